// SPDX-License-Identifier: Apache-2.0
#include "gateway/http/session.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <exception>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "gateway/http/asking.h"
#include "gateway/http/body_rate.h"
#include "gateway/http/head_check.h"
#include "gateway/http/request_parser.h"
#include "gateway/http/response_text.h"
#include "log/log.h"

namespace allot::gateway::http {
namespace {

namespace asio = boost::asio;
using Code = boost::system::error_code;
using Socket = asio::generic::stream_protocol::socket;
using asio::awaitable;
using asio::use_awaitable;
using Buffers = std::array<asio::const_buffer, 2>;

// Memory limit of a waiting connection; most heads fit.
constexpr std::size_t kSmallRead = std::size_t{2} << 10;
constexpr std::size_t kLargeRead = BodyBudget::kOneRead;
constexpr std::size_t kOneRecord = std::size_t{16} << 10;  // of TLS
constexpr std::size_t kMostBatch = std::size_t{1} << 20;
// Limit of time and bytes that a peer may keep sending before it reads the answer.
constexpr std::chrono::seconds kLinger{2};
// Time that a stopping server waits for the first request of a connection.
constexpr std::chrono::seconds kFirstRequest{1};
constexpr std::size_t kMostLinger = std::size_t{16} << 20;

// g++ 12 generates a wrong coroutine frame if several co_await are in conditions: here each is a
// separate statement, or the value of a constant.

// The byte stream of a connection, encrypted or not. One operation of a kind at a time.
class Transport {
 public:
  Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  virtual ~Transport() = default;

  virtual Socket& socket() = 0;
  // The handshake.
  virtual awaitable<bool> open() = 0;
  // Number of bytes read; 0: the stream has ended.
  virtual awaitable<std::size_t> read(char* to, std::size_t space) = 0;
  virtual awaitable<bool> write(const Buffers& buffers) = 0;
  // Tells the peer that no more bytes follow.
  virtual awaitable<void> finish() = 0;
  // Releases the descriptor if it holds the whole state of the connection; otherwise returns none.
  virtual UniqueFd release() { return {}; }
};

class PlainTransport : public Transport {
 public:
  explicit PlainTransport(Socket socket) : socket_(std::move(socket)) {}

  Socket& socket() override { return socket_; }
  awaitable<bool> open() override { co_return true; }

  awaitable<std::size_t> read(char* to, std::size_t space) override {
    Code code;
    const std::size_t count = co_await socket_.async_read_some(
        asio::buffer(to, space), asio::redirect_error(use_awaitable, code));
    co_return code ? 0 : count;
  }

  awaitable<bool> write(const Buffers& buffers) override {
    Code code;
    co_await asio::async_write(socket_, buffers, asio::redirect_error(use_awaitable, code));
    co_return !code;
  }

  awaitable<void> finish() override {
    Code ignored;
    socket_.shutdown(Socket::shutdown_send, ignored);
    co_return;
  }

  UniqueFd release() override {
    Code code;
    const int fd = socket_.release(code);
    return UniqueFd(code ? -1 : fd);
  }

 private:
  Socket socket_;
};

class TlsTransport : public Transport {
 public:
  TlsTransport(Socket socket, asio::ssl::context& context) : stream_(std::move(socket), context) {}

  Socket& socket() override { return stream_.next_layer(); }

  awaitable<bool> open() override {
    Code code;
    co_await stream_.async_handshake(asio::ssl::stream_base::server,
                                     asio::redirect_error(use_awaitable, code));
    co_return !code;
  }

  awaitable<std::size_t> read(char* to, std::size_t space) override {
    Code code;
    const std::size_t count = co_await stream_.async_read_some(
        asio::buffer(to, space), asio::redirect_error(use_awaitable, code));
    co_return code ? 0 : count;
  }

  awaitable<bool> write(const Buffers& buffers) override {
    Code code;
    if (buffers[0].size() + buffers[1].size() > kOneRecord) {
      co_await asio::async_write(stream_, buffers, asio::redirect_error(use_awaitable, code));
      co_return !code;
    }
    // Asio sends each buffer as its own record, with its own system call.
    std::string joined;
    joined.reserve(buffers[0].size() + buffers[1].size());
    for (const asio::const_buffer& part : buffers) {
      joined.append(static_cast<const char*>(part.data()), part.size());
    }
    co_await asio::async_write(stream_, asio::buffer(joined),
                               asio::redirect_error(use_awaitable, code));
    co_return !code;
  }

  // Also waits for the peer's close_notify; the deadline of the phase limits that.
  awaitable<void> finish() override {
    Code ignored;
    co_await stream_.async_shutdown(asio::redirect_error(use_awaitable, ignored));
    socket().shutdown(Socket::shutdown_send, ignored);
  }

 private:
  asio::ssl::stream<Socket> stream_;
};

// Blocks a coroutine until open() is called in the same thread. Each open() releases one wait.
class Gate {
 public:
  awaitable<void> wait() {
    if (!open_) co_await closed();
    open_ = false;
  }

  void open() {
    open_ = true;
    if (waiter_) std::exchange(waiter_, nullptr)();
  }

 private:
  awaitable<void> closed() {
    return asio::async_initiate<const asio::use_awaitable_t<>, void()>(
        [this](auto handler) {
          auto kept = std::make_shared<decltype(handler)>(std::move(handler));
          waiter_ = [kept] { std::move (*kept)(); };
        },
        use_awaitable);
  }

  bool open_ = false;
  std::function<void()> waiter_;
};

// One call of the application, which may answer after the session has ended.
struct Question {
  explicit Question(std::shared_ptr<BodyHold> held) : hold(std::move(held)) {}

  std::shared_ptr<BodyHold> hold;  // for the body of the request
  Gate answered{};
  std::optional<Response> response{};
  // Only for a stream. Exists until every call to it has been answered.
  std::unique_ptr<LineStream> lines{};
  std::string written{};
  LineStream::Then then = LineStream::Then::kLines;
};

constexpr const char* kNoRoom = "the memory for request bodies is used up; try again in a second";

std::string too_large(std::size_t most) {
  if (most == 0) return "this route does not accept a body";
  return "the request body is larger than " + std::to_string(most) + " bytes";
}

// Framing of the answer to a stream of lines.
struct LinesHead {
  std::string type;
  bool chunked = true;
  bool keeps = true;
};

class Session : public Connection, public std::enable_shared_from_this<Session> {
 public:
  Session(ServerState& state, Application& application, std::unique_ptr<Transport> transport,
          Peer peer, LimitKey key)
      : state_(state),
        application_(application),
        transport_(std::move(transport)),
        peer_(std::move(peer)),
        key_(std::move(key)),
        deadline_(Clock::now() + state.limits.head_time),
        rate_(state.limits.body_window, state.limits.body_rate) {}

  void start();
  // A request came before this session began.
  void mark_continued() { asked_ = true; }

  [[nodiscard]] Clock::time_point deadline() const override { return deadline_; }
  void expire() override;
  void leave() override;
  void cut() override;

 private:
  // The event that the session waits for; decides the answer to a late peer.
  enum class Phase { kIdle, kReading, kAnswer, kSending };

  awaitable<void> serve();
  awaitable<bool> serve_request();
  awaitable<std::size_t> read_head();
  awaitable<bool> read_body(RequestParser& parser);
  awaitable<bool> continue_body(RequestParser& parser);
  awaitable<bool> await_lines(RequestParser& parser);
  awaitable<bool> answer(RequestParser& parser, const Admission& admission, Head head);
  awaitable<bool> stream_lines(RequestParser& parser, Admission admission, std::size_t most_line);
  awaitable<bool> gather_lines(RequestParser& parser, std::size_t most_line);
  awaitable<bool> write_lines(const LinesHead& head, std::string text, bool last);

  awaitable<bool> read_some(std::size_t space);
  awaitable<bool> refuse(unsigned status, std::string title);
  awaitable<bool> refuse_body(RequestParser& parser, unsigned status, std::string title);
  awaitable<bool> send(Response response, bool keeps);
  awaitable<bool> write(std::string_view first, std::string_view second);
  awaitable<void> linger();
  awaitable<bool> answered(const std::shared_ptr<Question>& question);

  [[nodiscard]] std::optional<HeadFault> use_body(RequestParser& parser);
  [[nodiscard]] bool more_is_there();
  [[nodiscard]] bool peer_is_gone();
  [[nodiscard]] bool is_guest() const { return key_.kind == Kind::kGuest; }
  // Whether the connection outlives a stopping server.
  [[nodiscard]] bool is_kept() const {
    return state_.keeps && !peer_.encrypted && !is_guest() && !cut_;
  }
  void hand_on(const std::shared_ptr<Question>& question, std::string lines, bool last, bool stops);

  void enter(Phase phase, std::chrono::milliseconds time) {
    phase_ = phase;
    late_ = false;
    deadline_ = Clock::now() + time;
  }
  void begin_body(const Admission& admission);
  void drop(RequestParser& parser);
  // Number of bytes of the body received so far.
  [[nodiscard]] std::size_t here(RequestParser& parser) const {
    return parser.body().size() + in_.size();
  }

  ServerState& state_;
  Application& application_;
  std::unique_ptr<Transport> transport_;
  Peer peer_;
  const LimitKey key_;
  Connections::Place place_{};

  Phase phase_ = Phase::kIdle;
  Clock::time_point deadline_;
  bool late_ = false;  // the deadline of this phase passed
  bool cut_ = false;   // the connection must end at once
  Gate* waits_at_ = nullptr;

  std::string in_;      // received, not yet used
  bool is_1_1_ = true;  // HTTP version of the request
  bool head_only_ = false;
  bool unread_ = false;  // the peer may still send bytes that are not read
  bool answer_begun_ = false;
  bool asked_ = false;            // the first request has come
  bool between_batches_ = false;  // in a stream, which may end here
  std::shared_ptr<BodyHold> hold_{};
  std::size_t held_by_lines_ = 0;  // in a stream: bytes held by the application
  bool full_ = false;              // the stream ends because there is no room for more lines
  BodyRate rate_;
  std::size_t read_size_ = kSmallRead;
};

void Session::start() {
  place_ = state_.connections.add(shared_from_this(), key_);
  auto ended = [self = shared_from_this()](const std::exception_ptr& failure) {
    try {
      if (failure) std::rethrow_exception(failure);
    } catch (const std::exception& error) {
      log::error("gateway.connection_failed", {{"error", error.what()}});
    }
    Code ignored;
    self->transport_->socket().close(ignored);
    self->state_.connections.remove(self->place_);
    if (self->state_.stopping && self->state_.connections.size() == 0) self->state_.io.stop();
  };
  asio::co_spawn(
      state_.io, [this] { return serve(); }, std::move(ended));
}

awaitable<void> Session::serve() {
  const bool open = co_await transport_->open();
  if (!open) co_return;
  for (bool more = true; more;) {
    const bool served = co_await serve_request();
    more = served;
  }
}

// One request, from its first byte to the last of its answer. False: the connection ends.
awaitable<bool> Session::serve_request() {
  const std::size_t length = co_await read_head();
  if (length == 0) co_return false;
  const std::string_view text(in_.data(), length);
  HeadBounds bounds{state_.limits.head_bytes, state_.limits.fields};
  bounds.raw_target = application_.takes_raw_targets();
  if (auto fault = check_head(text, bounds)) co_return co_await refuse(fault->status, fault->title);
  RequestParser parser;
  if (auto fault = parser.read_head(text)) co_return co_await refuse(fault->status, fault->title);
  in_.erase(0, length);

  Head head = parser.take_head();
  head.peer = peer_;
  head_only_ = head.method == "HEAD";
  is_1_1_ = parser.is_1_1();
  unread_ = !parser.done();
  Admission admission = admission_of(application_, head);
  if (is_guest() && !admission.to_guests) {
    co_return co_await refuse(503,
                              "too many connections; try again in a second, or use fewer of them");
  }
  if (admission.refusal) {
    co_return co_await send(std::move(*admission.refusal), parser.keeps_alive());
  }
  const std::size_t most_body =
      std::min(admission.most_body, state_.bodies->most_of_one(admission.anonymous));
  const std::uint64_t announced = parser.content_length().value_or(0);
  if (!admission.lines && announced > most_body) {
    co_return co_await refuse(413, too_large(most_body));
  }
  begin_body(admission);
  // Refuses a body without room before the client sends it. From here on the received bytes count.
  const bool fits = admission.lines || hold_->resize(static_cast<std::size_t>(announced));
  if (!fits) co_return co_await refuse(503, kNoRoom);
  if (unread_ && in_.empty() && parser.expects_continue()) {
    enter(Phase::kSending, state_.limits.answer_time);
    const bool sent = co_await write("HTTP/1.1 100 Continue\r\n\r\n", {});
    if (!sent) co_return false;
  }
  if (admission.lines) co_return co_await stream_lines(parser, std::move(admission), most_body);
  parser.bound_body(most_body);
  const bool whole = co_await read_body(parser);
  if (!whole) co_return false;
  co_return co_await answer(parser, admission, std::move(head));
}

// The length of the head at the start of `in_`; 0: none, and a peer at fault got an answer.
awaitable<std::size_t> Session::read_head() {
  answer_begun_ = false;
  hold_.reset();
  state_.connections.waits(place_);
  if (in_.empty() && in_.capacity() > 2 * kSmallRead) in_ = std::string();
  if (in_.empty()) {
    enter(Phase::kIdle, state_.limits.idle_time);
  } else {
    enter(Phase::kReading, state_.limits.head_time);
  }
  std::size_t seen = 0;
  for (;;) {
    if (const std::size_t length = head_length(in_, seen); length != 0) {
      asked_ = true;
      if (!is_guest()) state_.connections.works(place_);  // a guest gives way to the next one
      co_return length;
    }
    unread_ = true;
    if (in_.size() > state_.limits.head_bytes) {
      co_await refuse(
          431, "the head is longer than " + std::to_string(state_.limits.head_bytes) + " bytes");
      co_return 0;
    }
    if (in_.empty() && state_.stopping && is_kept()) {
      if (UniqueFd fd = transport_->release(); fd.valid()) state_.kept.push_back(std::move(fd));
      co_return 0;
    }
    if (in_.empty() && state_.stopping && asked_) co_return 0;
    seen = in_.size();
    const bool more = co_await read_some(kSmallRead);
    if (!more) {
      if (in_.empty() && !late_ && state_.stopping && is_kept()) continue;
      if (late_ && !in_.empty()) co_await refuse(408, "the request head did not arrive in time");
      co_return 0;
    }
    if (phase_ == Phase::kIdle) enter(Phase::kReading, state_.limits.head_time);
  }
}

awaitable<bool> Session::read_body(RequestParser& parser) {
  for (;;) {
    if (auto fault = use_body(parser)) co_return co_await refuse(fault->status, fault->title);
    if (parser.done()) break;
    if (!hold_->resize(here(parser) + read_size_))
      co_return co_await refuse_body(parser, 503, kNoRoom);
    const bool more = co_await continue_body(parser);
    if (!more) co_return false;
  }
  unread_ = false;
  if (!hold_->resize(here(parser))) co_return co_await refuse_body(parser, 503, kNoRoom);
  co_return true;
}

// Waits for more of a body. The read size grows only with a fast body, so that many slow bodies use
// little memory.
awaitable<bool> Session::continue_body(RequestParser& parser) {
  for (bool in_time = true; in_time;) {
    const auto begin = Clock::now();
    const std::size_t had = in_.size();
    enter(Phase::kReading, rate_.left());
    const bool more = co_await read_some(read_size_);
    const std::size_t came = in_.size() - had;
    in_time = rate_.add(Clock::now() - begin, came, parser.body().size()) && !cut_;
    if (more && came == read_size_) read_size_ = std::min(2 * read_size_, kLargeRead);
    if (more && in_time) co_return true;
    if (!more && !late_) co_return false;
  }
  co_return co_await refuse_body(parser, 408, "the request body arrived too slowly, or stopped");
}

// Releases the received bytes before the answer is sent.
awaitable<bool> Session::refuse_body(RequestParser& parser, unsigned status, std::string title) {
  drop(parser);
  co_return co_await refuse(status, std::move(title));
}

void Session::drop(RequestParser& parser) {
  parser.body() = std::string();
  static_cast<void>(hold_->resize(held_by_lines_));
}

void Session::begin_body(const Admission& admission) {
  hold_ = std::make_shared<BodyHold>(state_.bodies, admission.anonymous);
  held_by_lines_ = 0;
  full_ = false;
  rate_ = BodyRate(state_.limits.body_window, state_.limits.body_rate);
  read_size_ = kSmallRead;
}

std::optional<HeadFault> Session::use_body(RequestParser& parser) {
  RequestParser::Step step = parser.read_body(in_);
  in_.erase(0, step.used);
  return std::move(step.fault);
}

awaitable<bool> Session::answer(RequestParser& parser, const Admission& admission, Head head) {
  const auto question = std::make_shared<Question>(std::move(hold_));
  const auto reply = [question, mailbox = state_.mailbox](Response response) {
    mailbox->post([question, response = std::move(response)]() mutable {
      question->response = std::move(response);
      question->answered.open();
    });
  };
  answer_of(application_, admission, {std::move(head), std::move(parser.body())}, reply);
  const bool in_time = co_await answered(question);
  if (!in_time) {
    co_return co_await refuse(504,
                              "the response took too long; the request may have been carried out");
  }
  co_return co_await send(std::move(*question->response), parser.keeps_alive());
}

// False: too late, or the connection must end.
awaitable<bool> Session::answered(const std::shared_ptr<Question>& question) {
  enter(Phase::kAnswer, state_.limits.answer_time);
  waits_at_ = &question->answered;
  co_await question->answered.wait();
  waits_at_ = nullptr;
  co_return !late_ && !cut_;
}

// Passes lines on and sends the reports back, batch by batch. The next batch begins after the
// report on the previous one is sent: this limits the peer to the speed of the application, and a
// broken connection leaves at most one batch with an unknown outcome (S62).
awaitable<bool> Session::stream_lines(RequestParser& parser, Admission admission,
                                      std::size_t most_line) {
  const auto question = std::make_shared<Question>(hold_);
  question->lines = std::move(admission.lines);
  const LinesHead head{std::move(admission.lines_type), is_1_1_, is_1_1_ && parser.keeps_alive()};
  std::string& body = parser.body();
  bool last = false;
  for (;;) {
    std::string lines;
    if (question->then != LineStream::Then::kRest) {
      const bool gathered = co_await gather_lines(parser, most_line);
      if (!gathered) co_return false;
      last = parser.done();
      const std::size_t whole = last ? body.size() : body.rfind('\n') + 1;
      lines = body.substr(0, whole);
      body.erase(0, whole);
      if (last) unread_ = false;
    }
    const bool stops = (state_.stopping || full_) && !last;
    hand_on(question, std::move(lines), last, stops);
    const bool in_time = co_await answered(question);
    if (!in_time) co_return false;
    held_by_lines_ = question->lines->held();
    const bool rest = question->then == LineStream::Then::kRest && !stops;
    const bool ends = !rest && (last || stops || question->then == LineStream::Then::kEnd);
    const bool sent = co_await write_lines(head, std::move(question->written), ends);
    if (!sent || (!ends && peer_is_gone())) co_return false;
    if (!ends) continue;
    question->lines.reset();
    if (last && head.keeps && (!state_.stopping || (is_kept() && in_.empty()))) co_return true;
    co_await linger();
    co_return false;
  }
}

// Reads until there is a whole line, or the end, and no more bytes are available; or until reading
// must stop.
awaitable<bool> Session::gather_lines(RequestParser& parser, std::size_t most_line) {
  std::size_t searched = 0;
  bool whole = false;
  for (;;) {
    if (auto fault = use_body(parser)) co_return co_await refuse(fault->status, fault->title);
    const std::string& body = parser.body();
    whole = whole || body.find('\n', searched) != std::string::npos;
    searched = body.size();
    if (parser.done() || state_.stopping) co_return true;
    if (whole && (body.size() >= kMostBatch || !more_is_there())) co_return true;
    if (!whole && body.size() > most_line) co_return co_await refuse(413, too_large(most_line));
    if (!hold_->resize(here(parser) + held_by_lines_ + read_size_)) {
      full_ = !whole;  // whole lines are processed first
      if (full_) drop(parser);
      co_return true;
    }
    between_batches_ = true;
    const bool more = co_await await_lines(parser);
    between_batches_ = false;
    if (!more) co_return state_.stopping && !late_ && !cut_;
  }
}

// Between lines a stream may pause for the idle time of a connection between two requests.
awaitable<bool> Session::await_lines(RequestParser& parser) {
  if (!parser.body().empty()) co_return co_await continue_body(parser);
  enter(Phase::kReading, state_.limits.idle_time);
  const bool more = co_await read_some(read_size_);
  if (!more && late_) co_await refuse(408, "no further lines arrived");
  co_return more;
}

void Session::hand_on(const std::shared_ptr<Question>& question, std::string lines, bool last,
                      bool stops) {
  auto written = [question, mailbox = state_.mailbox](std::string text, LineStream::Then then) {
    mailbox->post([question, text = std::move(text), then]() mutable {
      question->written = std::move(text);
      question->then = then;
      question->answered.open();
    });
  };
  if (stops) {
    question->lines->stop(full_ ? kNoRoom : "the gateway stops", std::move(written));
  } else {
    question->lines->take(std::move(lines), last, std::move(written));
  }
}

awaitable<bool> Session::write_lines(const LinesHead& head, std::string text, bool last) {
  std::string out;
  if (!answer_begun_) {
    Response response{200, head.type};
    out = head_of(application_, response,
                  {head.chunked ? BodyForm::kChunked : BodyForm::kUntilEnd, !head.keeps});
  }
  answer_begun_ = answer_begun_ || last || !text.empty();
  if (!answer_begun_) co_return true;
  if (!text.empty()) out += head.chunked ? chunk_of(text) : text;
  if (last && head.chunked) out += kLastChunk;
  enter(Phase::kSending, state_.limits.answer_time);
  co_return co_await write(out, {});
}

bool Session::more_is_there() {
  Code code;
  return transport_->socket().available(code) > 0 && !code;
}

// Whether the connection is reset, or closed in both directions.
bool Session::peer_is_gone() {
  pollfd state{transport_->socket().native_handle(), 0, 0};
  return poll(&state, 1, 0) == 1 && (state.revents & (POLLERR | POLLHUP)) != 0;
}

// Appends available bytes to in_. False: end of input, or deadline passed.
awaitable<bool> Session::read_some(std::size_t space) {
  const std::size_t had = in_.size();
  in_.resize(had + space);
  const std::size_t count = co_await transport_->read(in_.data() + had, space);
  in_.resize(had + count);
  co_return count > 0 && !cut_;
}

// Answers a request that does not reach the application, or that it cannot answer; the connection
// ends.
awaitable<bool> Session::refuse(unsigned status, std::string title) {
  // After the answer has begun, only closing the connection shows that it is incomplete.
  if (answer_begun_ || cut_) co_return false;
  Response response = application_.refuse(status, title);
  if (status == 503) response.fields.push_back({"Retry-After", "1"});
  co_return co_await send(std::move(response), false);
}

awaitable<bool> Session::send(Response response, bool keeps) {
  // A stopping server does not answer pipelined requests.
  const bool stays = keeps && !is_guest() && !response.closes && !unread_ &&
                     (!state_.stopping || (is_kept() && in_.empty()));
  const std::string head = head_of(application_, response, {BodyForm::kCounted, !stays, !is_1_1_});
  enter(Phase::kSending, state_.limits.answer_time);
  const bool with_body = !head_only_ && may_have_body(response.status);
  answer_begun_ = true;
  const std::string_view body = with_body ? response.body : std::string_view();
  const bool sent = co_await write(head, body);
  if (!sent) co_return false;
  if (!stays) co_await linger();
  co_return stays;
}

awaitable<bool> Session::write(std::string_view first, std::string_view second) {
  const Buffers buffers{asio::buffer(first.data(), first.size()),
                        asio::buffer(second.data(), second.size())};
  const bool sent = co_await transport_->write(buffers);
  co_return sent && !cut_;
}

// Drains the input for up to kLinger; otherwise close() resets the connection and the answer may be
// lost.
awaitable<void> Session::linger() {
  const bool all_read = !unread_ && in_.empty();
  if (all_read && !peer_.encrypted) co_return;  // close() has the same effect
  enter(Phase::kSending, kLinger);
  co_await transport_->finish();
  if (all_read) co_return;
  in_ = std::string(kSmallRead, '\0');
  Code code;
  for (std::size_t dropped = 0; dropped < kMostLinger && !late_ && !code;) {
    const std::size_t count = co_await transport_->socket().async_read_some(
        asio::buffer(in_), asio::redirect_error(use_awaitable, code));
    dropped += count;
  }
}

void Session::expire() {
  late_ = true;
  if (waits_at_ != nullptr) {
    waits_at_->open();
    return;
  }
  Code ignored;
  transport_->socket().cancel(ignored);
}

void Session::leave() {
  if (phase_ != Phase::kIdle && !between_batches_) return;
  if (!asked_ && !is_kept()) {
    // A client that has just connected is about to send a request, and could not distinguish a
    // closed connection from a lost answer.
    deadline_ = std::min(deadline_, Clock::now() + kFirstRequest);
    return;
  }
  Code ignored;
  transport_->socket().cancel(ignored);
}

void Session::cut() {
  cut_ = true;
  Code ignored;
  transport_->socket().close(ignored);
  if (waits_at_ != nullptr) waits_at_->open();
}

std::shared_ptr<Session> session_of(ServerState& state, Application& application, UniqueFd fd,
                                    Peer peer, LimitKey key) {
  const int family = peer.address.empty() ? AF_UNIX : AF_INET;
  Socket socket(state.io, asio::generic::stream_protocol(family, 0), fd.release());
  std::unique_ptr<Transport> transport;
  if (peer.encrypted) {
    transport = std::make_unique<TlsTransport>(std::move(socket), *state.tls);
  } else {
    transport = std::make_unique<PlainTransport>(std::move(socket));
  }
  return std::make_shared<Session>(state, application, std::move(transport), std::move(peer),
                                   std::move(key));
}

}  // namespace

void start_session(ServerState& state, Application& app, UniqueFd fd, Peer peer, LimitKey key) {
  session_of(state, app, std::move(fd), std::move(peer), std::move(key))->start();
}

void continue_session(ServerState& state, Application& app, UniqueFd fd, Peer peer, LimitKey key) {
  const auto session = session_of(state, app, std::move(fd), std::move(peer), std::move(key));
  session->mark_continued();
  session->start();
}

}  // namespace allot::gateway::http
