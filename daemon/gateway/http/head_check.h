// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

// Validates a head before the parser reads it. Beast's parser is bounded but lenient; request
// smuggling exploits heads that two parsers on the way read differently, so every ambiguous head is
// refused here (docs/decisions/0022). Pure functions, for any thread.
namespace allot::gateway::http {

struct HeadBounds {
  std::size_t bytes = std::size_t{16} << 10;  // including the empty line
  std::size_t fields = 100;
  std::size_t target = std::size_t{8} << 10;
  bool raw_target = false;  // unescaped bytes above 127 are allowed
};

// Refusal of a request before the application sees it.
struct HeadFault {
  unsigned status = 400;
  std::string title{};  // what is wrong and what would be right, without client input
};

// Length of the head at the start of `bytes`, including its empty line; 0: incomplete. A bare LF
// also ends a line, so that check_head() refuses it at once instead of waiting for a CRLF. `seen`:
// number of bytes searched before without finding the end.
[[nodiscard]] std::size_t head_length(std::string_view bytes, std::size_t seen = 0);

// `head` has the length from head_length(). nullopt: the head is valid.
[[nodiscard]] std::optional<HeadFault> check_head(std::string_view head, const HeadBounds& bounds);

}  // namespace allot::gateway::http
