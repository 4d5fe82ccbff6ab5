// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace allot {

// Length of the well-formed UTF-8 character at the start of a text; 0: there is none. Refuses
// overlong forms, surrogates and everything above U+10FFFF (RFC 3629, section 4).
constexpr std::size_t utf8_length(std::string_view text) {
  const auto byte = [text](std::size_t at) {
    return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U;
  };
  const unsigned first = byte(0);
  if (first < 0x80) return text.empty() ? 0 : 1;
  if (first < 0xc2 || first > 0xf4) return 0;
  const std::size_t length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  for (std::size_t at = 1; at < length; ++at) {
    if ((byte(at) & 0xc0U) != 0x80U) return 0;
  }
  const unsigned both = first << 8U | byte(1);
  const bool bad = (both >= 0xe000 && both < 0xe0a0) || (both > 0xed9f && both < 0xee00) ||
                   (both >= 0xf000 && both < 0xf090) || both > 0xf48f;
  return bad && length > 2 ? 0 : length;
}

// The length of the longest start of a text that has at most `most` bytes and ends between two
// characters.
constexpr std::size_t utf8_cut(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text.size();
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xc0U) == 0x80U) --most;
  return most;
}

// Lower-cases ASCII letters only, as in names of hosts and fields.
inline std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

}  // namespace allot
