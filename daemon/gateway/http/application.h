// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "gateway/http/message.h"

// Interface between the HTTP server and the application that answers. The server calls every
// function in its single thread, so none may block; answers may come from any thread.
namespace allot::gateway::http {

// Takes the answer to one request. Call it exactly once, in any thread; if the connection is closed
// by then, the answer is dropped.
using Reply = std::function<void(Response)>;

// A request body that is processed line by line while it arrives, and answered line by line. One
// object per request; each call follows the reply to the previous one. The object exists at least
// until each `written` is destroyed.
class LineStream {
 public:
  LineStream() = default;
  LineStream(const LineStream&) = delete;
  LineStream& operator=(const LineStream&) = delete;
  virtual ~LineStream() = default;

  enum class Then {
    kRest,   // lines remain: take() is called again without new ones after the answer is sent
    kLines,  // take() needs further lines
    kEnd
  };
  // Takes whole lines with their line feeds; the last line of a body may have none. `written`
  // receives the text to send back, which may be empty, and the next step.
  using Written = std::function<void(std::string lines, Then then)>;
  virtual void take(std::string lines, bool last, Written written) = 0;
  // Ends the stream for the reason `why`: `written` receives the last text to send back, such as
  // the line from which to continue. Its `then` is ignored.
  virtual void stop(const char* why, Written written) = 0;
  // Bytes of lines kept between two calls.
  [[nodiscard]] virtual std::size_t held() const = 0;
};

// Decision about a request after its head, before its body is read.
struct Admission {
  std::optional<Response> refusal{};  // the answer; if there is a body, the connection closes
  // Limit in bytes; a larger body is refused with 413 (problem document). With `lines`: limit of a
  // line.
  std::size_t most_body = 0;
  // Answers the request with its whole body, for a request without `lines`. Carries what the head
  // decided, such as route and caller.
  std::function<void(Request request, Reply reply)> answer{};
  std::unique_ptr<LineStream> lines{};  // consumer of the body; the answer has status 200
  std::string lines_type{};             // Content-Type of that answer
  // Answered even above the connection limit: health checks.
  bool to_guests = false;
  // Body of an unauthenticated client, for which less room is reserved.
  bool anonymous = false;
};

class Application {
 public:
  Application() = default;
  Application(const Application&) = delete;
  Application& operator=(const Application&) = delete;
  virtual ~Application() = default;

  virtual Admission admit(const Head& head) = 0;
  // The answer to a request that the server refuses itself: bad head, timeout, too many
  // connections. `title` is for people: what is wrong, and what would be right.
  virtual Response refuse(unsigned status, const std::string& title) = 0;
  // Whether targets may contain bytes above 127 without %XX escapes.
  [[nodiscard]] virtual bool takes_raw_targets() const { return false; }
};

}  // namespace allot::gateway::http
