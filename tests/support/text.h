// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace allot::support {

inline bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

// How often `part` stands in it, one behind the other.
inline std::size_t times_in(const std::string& text, std::string_view part) {
  std::size_t times = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++times;
  }
  return times;
}

}  // namespace allot::support
