// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/unique_fd.h"
#include "gateway/http/application.h"
#include "gateway/http/awaitable.h"
#include "gateway/http/body_budget.h"
#include "gateway/http/body_rate.h"
#include "gateway/http/connections.h"
#include "gateway/http/head_check.h"
#include "gateway/http/request_parser.h"
#include "gateway/http/response_text.h"
#include "gateway/http/server.h"
#include "gateway/http/transport.h"
#include "thread/mutex.h"

namespace allot::gateway::http {

// Runs functions posted by other threads in the server thread. Outlives the server, for threads
// that answer late; late posts are dropped. Any thread may call post().
class Mailbox {
 public:
  using Act = std::function<void()>;

  explicit Mailbox(std::function<void(Act)> deliver) : deliver_(std::move(deliver)) {}

  void post(Act act) ALLOT_EXCLUDES(mutex_) {
    const MutexLock held(mutex_);
    if (deliver_) deliver_(std::move(act));
  }

  void close() ALLOT_EXCLUDES(mutex_) {
    const MutexLock held(mutex_);
    deliver_ = nullptr;
  }

 private:
  Mutex mutex_;
  std::function<void(Act)> deliver_ ALLOT_GUARDED_BY(mutex_);
};

// State shared by all sessions of a server. Outlives them.
struct ServerState {
  Application& application;  // default for listeners without their own
  const Limits& limits;
  boost::asio::io_context& io;
  boost::asio::ssl::context* tls = nullptr;  // nullptr: no TLS listener
  std::shared_ptr<Mailbox> mailbox;
  std::shared_ptr<BodyBudget> bodies;
  Connections connections{};
  bool stopping = false;
  bool keeps = false;  // stops for another server, which receives these:
  std::vector<UniqueFd> kept{};
};

// Blocks a coroutine until open() is called in the same thread. Each open() releases one wait.
class Gate {
 public:
  Awaitable<void> wait();
  void open();

 private:
  Awaitable<void> closed();

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

[[nodiscard]] std::string too_large(std::size_t most);

// One connection, which serves a request at a time in the server's thread.
class Session : public Connection, public std::enable_shared_from_this<Session> {
 public:
  // `continued`: another server has kept the connection between two requests.
  Session(ServerState& state, Application& application, UniqueFd fd, Peer peer, LimitKey key,
          bool continued)
      : state_(state),
        application_(application),
        transport_(state.io, state.tls, std::move(fd), peer),
        peer_(std::move(peer)),
        key_(std::move(key)),
        bounds_{.raw_target = application.takes_raw_targets()},
        deadline_(Clock::now() + state.limits.head_time),
        asked_(continued),
        rate_(state.limits.body_window, state.limits.body_rate) {}

  // Serves the connection until it ends, in the server's thread.
  void start();

  [[nodiscard]] Clock::time_point deadline() const override { return deadline_; }
  void expire() override;
  void leave() override;
  void cut() override;

 private:
  // Memory limit of a waiting connection; most heads fit.
  static constexpr std::size_t kSmallRead = std::size_t{2} << 10;
  static constexpr const char* kNoRoom =
      "the memory for request bodies is used up; try again in a second";

  Awaitable<void> serve();
  Awaitable<bool> serve_request();
  Awaitable<bool> serve_body(RequestParser& parser, Admission admission, Head head);
  Awaitable<std::size_t> read_head();
  Awaitable<bool> read_body(RequestParser& parser);
  Awaitable<bool> continue_body(RequestParser& parser);
  Awaitable<bool> await_lines(RequestParser& parser);
  Awaitable<bool> answer(RequestParser& parser, const Admission& admission, Head head);
  // Framing of the answer to a stream of lines.
  struct LinesHead {
    std::string type;
    bool chunked = true;
    bool keeps = true;
  };
  Awaitable<bool> stream_lines(RequestParser& parser, Admission admission, std::size_t most_line);
  Awaitable<bool> gather_lines(RequestParser& parser, std::size_t most_line);
  Awaitable<bool> write_lines(const LinesHead& head, std::string text, bool last);

  Awaitable<bool> read_some(std::size_t space);
  Awaitable<bool> refuse(unsigned status, std::string title);
  Awaitable<bool> refuse_body(RequestParser& parser, unsigned status, std::string title);
  Awaitable<bool> send(Response response, bool keeps);
  Awaitable<bool> write(std::string_view first, std::string_view second);
  Awaitable<void> linger();
  Awaitable<bool> answered(const std::shared_ptr<Question>& question);

  // The head of an answer. Replaces `response` if it cannot be sent as it is.
  [[nodiscard]] std::string head_of(Response& response, const Framing& framing);
  [[nodiscard]] std::optional<HeadFault> use_body(RequestParser& parser);
  [[nodiscard]] bool is_guest() const { return key_.kind == Kind::kGuest; }
  // Whether the connection outlives a stopping server.
  [[nodiscard]] bool is_kept() const {
    return state_.keeps && !peer_.encrypted && !is_guest() && !cut_;
  }
  void hand_on(const std::shared_ptr<Question>& question, std::string lines, bool last, bool stops);

  // Sets the deadline of the next phase.
  void allow(std::chrono::milliseconds time) {
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
  Transport transport_;
  Peer peer_;
  const LimitKey key_;
  const HeadBounds bounds_;
  Connections::Place place_{};

  Clock::time_point deadline_;
  bool late_ = false;  // the deadline of this phase passed
  bool cut_ = false;   // the connection must end at once
  bool idle_ = true;   // no byte of a request has come since the last one
  Gate* waits_at_ = nullptr;

  std::string in_;      // received, not yet used
  bool is_1_1_ = true;  // HTTP version of the request
  bool head_only_ = false;
  bool unread_ = false;  // the peer may still send bytes that are not read
  bool answer_begun_ = false;
  bool asked_;                    // the first request has come
  bool between_batches_ = false;  // in a stream, which may end here
  std::shared_ptr<BodyHold> hold_{};
  std::size_t held_by_lines_ = 0;  // in a stream: bytes held by the application
  bool full_ = false;              // the stream ends for lack of room
  BodyRate rate_;
  std::size_t read_size_ = kSmallRead;
};

}  // namespace allot::gateway::http
