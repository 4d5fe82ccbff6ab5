// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "gateway/http/message.h"

// Serializes answers. Pure except for the clock; server thread only.
namespace allot::gateway::http {

enum class BodyForm {
  kCounted,   // Content-Length
  kChunked,   // Transfer-Encoding: chunked
  kUntilEnd,  // ends with the connection: HTTP/1.0
};

struct Framing {
  BodyForm form = BodyForm::kCounted;
  bool closes = false;      // closes the connection after this answer
  bool tells_open = false;  // confirms keep-alive to an HTTP/1.0 client that asked for it
};

// The head of the answer, with its empty line. Throws Error if a field has an illegal character,
// because echoed input could split the answer in two.
[[nodiscard]] std::string response_head(const Response& response, const Framing& framing);

// "Not Found"; "Status" for a status that no answer has.
[[nodiscard]] std::string_view reason_of(unsigned status);

// Whether a status allows a body, for any request.
[[nodiscard]] bool may_have_body(unsigned status);

// One chunk of a body.
[[nodiscard]] std::string chunk_of(std::string_view text);
inline constexpr std::string_view kLastChunk = "0\r\n\r\n";

}  // namespace allot::gateway::http
