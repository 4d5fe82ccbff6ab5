// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace allot::support {

inline bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

// Number of non-overlapping occurrences of `part`.
inline std::size_t times_in(const std::string& text, std::string_view part) {
  std::size_t times = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++times;
  }
  return times;
}

// `text` with each `from` replaced by `to`.
inline std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

// Replaces only the first occurrence. Throws std::runtime_error if there is none.
inline std::string replaced_first(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  if (at == std::string::npos) {
    throw std::runtime_error(std::string(from) + " is not in\n" + text);
  }
  return text.replace(at, from.size(), to);
}

}  // namespace allot::support
