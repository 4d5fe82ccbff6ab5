// SPDX-License-Identifier: Apache-2.0
#include "json/printable.h"

#include <algorithm>
#include <cstdio>

namespace allot::as_json {
namespace {

// Length of the UTF-8 character at the start; 0 if it is invalid, or if a terminal would interpret
// it (C1 controls, changes of the writing direction).
std::size_t shown_character(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const unsigned lead = byte(0);
  const std::size_t size = lead < 0x80   ? 1
                           : lead < 0xc2 ? 0
                           : lead < 0xe0 ? 2
                           : lead < 0xf0 ? 3
                           : lead < 0xf5 ? 4
                                         : 0;
  if (size <= 1) return lead >= ' ' && lead < 0x7f ? 1 : 0;
  unsigned code = lead & (0xffU >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0U) != 0x80U) return 0;
    code = (code << 6) | (byte(i) & 0x3fU);
  }
  const bool overlong = (size == 3 && code < 0x800) || (size == 4 && code < 0x10000);
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  const bool obeyed = code < 0xa0 || code == 0x200e || code == 0x200f ||
                      (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
  return overlong || surrogate || obeyed || code > 0x10ffff ? 0 : size;
}

// Moves the first character of `text` to `out`, escaped if necessary.
void append_shown(std::string& out, std::string_view& text) {
  const std::size_t size = shown_character(text);
  if (size > 0) {
    out += text.substr(0, size);
  } else {
    char escaped[8];
    std::snprintf(escaped, sizeof escaped, "\\x%02x", static_cast<unsigned char>(text.front()));
    out += escaped;
  }
  text.remove_prefix(std::max<std::size_t>(size, 1));
}

}  // namespace

std::string printable(std::string_view text, std::size_t most) {
  std::string out;
  while (!text.empty()) {
    if (out.size() >= most) return out + "...";
    if (text.front() == '\n') {
      out += "\\n";
      text.remove_prefix(1);
    } else {
      append_shown(out, text);
    }
  }
  return out;
}

std::string printable_lines(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    if (text.front() == '\n' || text.front() == '\t') {
      out += text.front();
      text.remove_prefix(1);
    } else {
      append_shown(out, text);
    }
  }
  return out;
}

std::string how_long(std::uint64_t ms) {
  const auto s = static_cast<unsigned long long>(ms) / 1000;
  char text[48];
  if (ms < 1000) {
    std::snprintf(text, sizeof text, "%llu ms", static_cast<unsigned long long>(ms));
  } else if (s < 60) {
    std::snprintf(text, sizeof text, "%llu.%llu s", s,
                  static_cast<unsigned long long>(ms) / 100 % 10);
  } else if (s < 3600) {
    std::snprintf(text, sizeof text, "%llu min %02llu s", s / 60, s % 60);
  } else if (s < 86400) {
    std::snprintf(text, sizeof text, "%llu h %02llu min", s / 3600, s / 60 % 60);
  } else {
    std::snprintf(text, sizeof text, "%llu d %02llu h", s / 86400, s / 3600 % 24);
  }
  return text;
}

}  // namespace allot::as_json
