// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

// What a head must be before a parser sees it. Beast's parser is bounded but lenient: what two
// parsers on the way of a request read differently is how requests are smuggled, so everything that
// can be read in two ways is refused here (docs/decisions/0022). Pure functions, for any thread.
namespace allot::gateway::http {

struct HeadBounds {
  std::size_t bytes = std::size_t{16} << 10;  // with its empty line
  std::size_t fields = 100;
  std::size_t target = std::size_t{8} << 10;
  bool raw_target = false;  // bytes above 127 may stand in it as they are
};

// Why a request is refused before anybody is asked.
struct HeadFault {
  unsigned status = 400;
  std::string title{};  // what is wrong and what would be right; holds nothing that the client sent
};

// How many bytes the head has with which `bytes` begin, up to and including its empty line; 0: its
// end is not there yet. A bare LF ends a line, too, so that check_head() refuses it at once instead
// of everybody waiting for a CRLF. `seen`: that many bytes had no end when they were looked at.
[[nodiscard]] std::size_t head_length(std::string_view bytes, std::size_t seen = 0);

// `head` is what head_length() measured. Without a value it is good.
[[nodiscard]] std::optional<HeadFault> check_head(std::string_view head, const HeadBounds& bounds);

}  // namespace allot::gateway::http
