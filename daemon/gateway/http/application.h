// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "gateway/http/message.h"

// What the server asks whoever answers requests. The server calls everything here in its one
// thread, so nothing here may block; answers may come from any thread.
namespace allot::gateway::http {

// Takes the answer to one request. Whoever has it calls it exactly once, in any thread; if the
// connection is gone by then the answer is dropped.
using Reply = std::function<void(Response)>;

// A body that is worked off while it comes in, line by line, and is answered line by line. One
// object for each request; the calls come one after the other, each once the reply to the one
// before was made.
class LineStream {
 public:
  LineStream() = default;
  LineStream(const LineStream&) = delete;
  LineStream& operator=(const LineStream&) = delete;
  virtual ~LineStream() = default;

  enum class Then {
    kRest,   // lines are left over: take() is called again, without new ones, once the answer left
    kLines,  // take() wants further lines
    kEnd
  };
  // Whole lines, with their ends; the last line of a body may have none. `written` gets what is
  // sent back, which may be empty, and what follows.
  using Written = std::function<void(std::string lines, Then then)>;
  virtual void take(std::string lines, bool last, Written written) = 0;
  // No further lines are taken, and `why`: `written` gets the last that is sent back,
  // such as where to go on. What `then` says does not matter.
  virtual void stop(const char* why, Written written) = 0;
  // Bytes of lines that it keeps between two calls.
  [[nodiscard]] virtual std::size_t held() const = 0;
};

// What becomes of a request whose head is there and whose body is not read yet.
struct Admission {
  std::optional<Response> refusal{};  // the answer; if there is a body, the connection closes
  // Bytes; a larger body is refused with 413 (problem document). With `lines`: of one line.
  std::size_t most_body = 0;
  std::unique_ptr<LineStream> lines{};  // the body goes there; answered with status 200 as it comes
  std::string lines_type{};             // Content-Type of that answer
  // Answered also where there are too many connections already: what asks whether we are well.
  bool to_guests = false;
  // Its body is of somebody without a name, for whom less room is left.
  bool anonymous = false;
};

class Application {
 public:
  Application() = default;
  Application(const Application&) = delete;
  Application& operator=(const Application&) = delete;
  virtual ~Application() = default;

  virtual Admission admit(const Head& head) = 0;
  // Called for what was admitted without a stream, with its whole body.
  virtual void answer(Request request, Reply reply) = 0;
  // The answer to what the server refuses itself: a bad head, a timeout, too many connections.
  // `title` is for people: what is wrong, and what would be right.
  virtual Response refuse(unsigned status, const std::string& title) = 0;
  // Whether names in a target may have bytes above 127 that are not written as %XX.
  [[nodiscard]] virtual bool takes_raw_targets() const { return false; }
};

}  // namespace allot::gateway::http
