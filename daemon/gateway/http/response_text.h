// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "gateway/http/message.h"

// How an answer is written. Pure but for the clock; for the server's thread only.
namespace allot::gateway::http {

enum class BodyForm {
  kCounted,   // Content-Length
  kChunked,   // Transfer-Encoding: chunked
  kUntilEnd,  // the end of the connection is its end: HTTP/1.0
};

struct Framing {
  BodyForm form = BodyForm::kCounted;
  bool closes = false;      // the connection, after this answer
  bool tells_open = false;  // an HTTP/1.0 client that asked to keep it open is told
};

// The head of the answer, with its empty line. Throws Error if a field has a character that does
// not belong into one: an answer must not be split in two by what it repeats.
[[nodiscard]] std::string response_head(const Response& response, const Framing& framing);

// Whether such an answer has a body at all, whatever was asked.
[[nodiscard]] bool may_have_body(unsigned status);

// One chunk of a body.
[[nodiscard]] std::string chunk_of(std::string_view text);
inline constexpr std::string_view kLastChunk = "0\r\n\r\n";

}  // namespace allot::gateway::http
