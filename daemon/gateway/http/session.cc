// SPDX-License-Identifier: Apache-2.0
#include "gateway/http/session.h"

#include <algorithm>
#include <boost/asio/async_result.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <exception>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "log/log.h"

namespace allot::gateway::http {
namespace {

namespace asio = boost::asio;

constexpr std::size_t kLargeRead = BodyBudget::kOneRead;
// Limit of time and bytes that a peer may keep sending before it reads the answer.
constexpr std::chrono::seconds kLinger{2};
// Time that a stopping server waits for the first request of a connection.
constexpr std::chrono::seconds kFirstRequest{1};
constexpr std::size_t kMostLinger = std::size_t{16} << 20;

// An exception of an application is a defect: it is logged, and answered with 500.
Response defect(Application& application, const std::exception& error) {
  log::error("gateway.answer_failed", {{"error", error.what()}});
  return application.refuse(500, "this is a defect; the log says more");
}

Admission admission_of(Application& application, const Head& head) {
  try {
    return application.admit(head);
  } catch (const std::exception& error) {
    Admission admission;
    admission.refusal = defect(application, error);
    return admission;
  }
}

void answer_of(Application& application, const Admission& admission, Request request,
               const Reply& reply) {
  try {
    admission.answer(std::move(request), reply);
  } catch (const std::exception& error) {
    reply(defect(application, error));
  }
}

}  // namespace

Awaitable<void> Gate::wait() {
  if (!open_) co_await closed();
  open_ = false;
}

void Gate::open() {
  open_ = true;
  if (waiter_) std::exchange(waiter_, nullptr)();
}

Awaitable<void> Gate::closed() {
  return asio::async_initiate<const asio::use_awaitable_t<>, void()>(
      [this](auto handler) {
        auto kept = std::make_shared<decltype(handler)>(std::move(handler));
        waiter_ = [kept] { std::move (*kept)(); };
      },
      asio::use_awaitable);
}

std::string too_large(std::size_t most) {
  if (most == 0) return "this route does not accept a body";
  return "the request body is larger than " + std::to_string(most) + " bytes";
}

void Session::start() {
  place_ = state_.connections.add(shared_from_this(), key_);
  auto ended = [self = shared_from_this()](const std::exception_ptr& failure) {
    try {
      if (failure) std::rethrow_exception(failure);
    } catch (const std::exception& error) {
      log::error("gateway.connection_failed", {{"error", error.what()}});
    }
    self->transport_.close();
    self->state_.connections.remove(self->place_);
    if (self->state_.stopping && self->state_.connections.size() == 0) self->state_.io.stop();
  };
  asio::co_spawn(
      state_.io, [this] { return serve(); }, std::move(ended));
}

Awaitable<void> Session::serve() {
  const bool open = co_await transport_.open();
  if (!open) co_return;
  for (bool more = true; more;) {
    const bool served = co_await serve_request();
    more = served;
  }
}

// One request, from its first byte to the last of its answer. False: the connection ends. It is two
// coroutines because g++ 12 warns of mismatched allocation functions in a longer one.
Awaitable<bool> Session::serve_request() {
  const std::size_t length = co_await read_head();
  if (length == 0) co_return false;
  const std::string_view text(in_.data(), length);
  if (auto fault = check_head(text, bounds_))
    co_return co_await refuse(fault->status, fault->title);
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
  co_return co_await serve_body(parser, std::move(admission), std::move(head));
}

Awaitable<bool> Session::serve_body(RequestParser& parser, Admission admission, Head head) {
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
    allow(state_.limits.answer_time);
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
Awaitable<std::size_t> Session::read_head() {
  answer_begun_ = false;
  hold_.reset();
  state_.connections.waits(place_);
  if (in_.empty() && in_.capacity() > 2 * kSmallRead) in_ = std::string();
  idle_ = in_.empty();
  allow(idle_ ? state_.limits.idle_time : state_.limits.head_time);
  std::size_t seen = 0;
  for (;;) {
    if (const std::size_t length = head_length(in_, seen); length != 0) {
      asked_ = true;
      if (!is_guest()) state_.connections.works(place_);  // a guest gives way to the next one
      co_return length;
    }
    unread_ = true;
    if (in_.size() > bounds_.bytes) {
      co_await refuse(431, "the head is longer than " + std::to_string(bounds_.bytes) + " bytes");
      co_return 0;
    }
    if (in_.empty() && state_.stopping && is_kept()) {
      if (UniqueFd fd = transport_.release(); fd.valid()) state_.kept.push_back(std::move(fd));
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
    if (std::exchange(idle_, false)) allow(state_.limits.head_time);
  }
}

Awaitable<bool> Session::read_body(RequestParser& parser) {
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
Awaitable<bool> Session::continue_body(RequestParser& parser) {
  for (bool in_time = true; in_time;) {
    const auto begin = Clock::now();
    const std::size_t had = in_.size();
    allow(rate_.left());
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
Awaitable<bool> Session::refuse_body(RequestParser& parser, unsigned status, std::string title) {
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

Awaitable<bool> Session::answer(RequestParser& parser, const Admission& admission, Head head) {
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
Awaitable<bool> Session::answered(const std::shared_ptr<Question>& question) {
  allow(state_.limits.answer_time);
  waits_at_ = &question->answered;
  co_await question->answered.wait();
  waits_at_ = nullptr;
  co_return !late_ && !cut_;
}

// Appends available bytes to in_. False: end of input, or deadline passed.
Awaitable<bool> Session::read_some(std::size_t space) {
  const std::size_t had = in_.size();
  in_.resize(had + space);
  const std::size_t count = co_await transport_.read(in_.data() + had, space);
  in_.resize(had + count);
  co_return count > 0 && !cut_;
}

// Answers a request that does not reach the application, or that it cannot answer; the connection
// ends.
Awaitable<bool> Session::refuse(unsigned status, std::string title) {
  // After the answer has begun, only closing the connection shows that it is incomplete.
  if (answer_begun_ || cut_) co_return false;
  Response response = application_.refuse(status, title);
  if (status == 503) response.fields.push_back({"Retry-After", "1"});
  co_return co_await send(std::move(response), false);
}

std::string Session::head_of(Response& response, const Framing& framing) {
  try {
    return response_head(response, framing);
  } catch (const Error& error) {
    response = defect(application_, error);
    return response_head(response, framing);
  }
}

Awaitable<bool> Session::send(Response response, bool keeps) {
  // A stopping server does not answer pipelined requests.
  const bool stays = keeps && !is_guest() && !response.closes && !unread_ &&
                     (!state_.stopping || (is_kept() && in_.empty()));
  const std::string head = head_of(response, {BodyForm::kCounted, !stays, !is_1_1_});
  allow(state_.limits.answer_time);
  const bool with_body = !head_only_ && may_have_body(response.status);
  answer_begun_ = true;
  const std::string_view body = with_body ? response.body : std::string_view();
  const bool sent = co_await write(head, body);
  if (!sent) co_return false;
  if (!stays) co_await linger();
  co_return stays;
}

Awaitable<bool> Session::write(std::string_view first, std::string_view second) {
  const bool sent = co_await transport_.write(first, second);
  co_return sent && !cut_;
}

// Drains the input for up to kLinger; otherwise close() resets the connection and the answer may be
// lost.
Awaitable<void> Session::linger() {
  const bool all_read = !unread_ && in_.empty();
  if (all_read && !peer_.encrypted) co_return;  // close() has the same effect
  allow(kLinger);
  co_await transport_.finish();
  if (all_read) co_return;
  in_ = std::string(kSmallRead, '\0');
  for (std::size_t dropped = 0; dropped < kMostLinger && !late_;) {
    const std::size_t count = co_await transport_.drop(in_.data(), in_.size());
    if (count == 0) co_return;
    dropped += count;
  }
}

void Session::expire() {
  late_ = true;
  if (waits_at_ != nullptr) {
    waits_at_->open();
    return;
  }
  transport_.cancel();
}

void Session::leave() {
  if (!idle_ && !between_batches_) return;
  if (!asked_ && !is_kept()) {
    // A client that has just connected is about to send a request, and could not distinguish a
    // closed connection from a lost answer.
    deadline_ = std::min(deadline_, Clock::now() + kFirstRequest);
    return;
  }
  transport_.cancel();
}

void Session::cut() {
  cut_ = true;
  transport_.close();
  if (waits_at_ != nullptr) waits_at_->open();
}

}  // namespace allot::gateway::http
