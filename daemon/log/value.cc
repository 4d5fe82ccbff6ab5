// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <type_traits>

#include "base/utf8.h"
#include "log/log.h"

namespace allot::log {
namespace {

using Byte = unsigned char;

// C0, DEL and C1: each of them can control a terminal.
bool is_control(std::string_view sequence) {
  const auto first = static_cast<Byte>(sequence[0]);
  if (sequence.size() == 1) return first < 0x20 || first == 0x7F;
  return first == 0xC2 && static_cast<Byte>(sequence[1]) < 0xA0;
}

void append_hex(std::string& out, const char* prefix, char byte) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const auto value = static_cast<Byte>(byte);
  out.append(prefix).append(1, kDigits[value >> 4U]).append(1, kDigits[value & 0xFU]);
}

// Appends `sequence` escaped; false when it needs no escape and was appended as it is.
bool append_escaped(std::string& out, std::string_view sequence, bool valid) {
  if (valid && !is_control(sequence)) {
    const bool special = sequence[0] == '"' || sequence[0] == '\\';
    if (special) out.append(1, '\\');
    out.append(sequence);
    return special;
  }
  constexpr std::string_view kNamed = "\n\r\t";
  if (const std::size_t at = kNamed.find(sequence[0]); at != std::string_view::npos) {
    out.append(1, '\\').append(1, "nrt"[at]);
    return true;
  }
  for (const char byte : sequence) append_hex(out, "\\x", byte);
  return true;
}

void append_quoted(std::string& line, std::string_view text) {
  const std::size_t begin = line.size();
  bool quote = text.empty();
  line.append(1, '"');
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const std::string_view sequence = text.substr(0, length == 0 ? 1 : length);
    if (append_escaped(line, sequence, length != 0)) quote = true;
    if (sequence == " " || sequence == "=") quote = true;
    text.remove_prefix(sequence.size());
  }
  if (quote) {
    line.append(1, '"');
  } else {
    line.erase(begin, 1);
  }
}

// The text as a JSON string.
void append_json(std::string& line, std::string_view text) {
  line.append(1, '"');
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const std::string_view sequence = text.substr(0, length == 0 ? 1 : length);
    const auto first = static_cast<Byte>(sequence[0]);
    if (length == 0) {
      line.append("\xef\xbf\xbd");
    } else if (first == '"' || first == '\\') {
      line.append(1, '\\').append(sequence);
    } else if (first < 0x20 || first == 0x7F) {
      append_hex(line, "\\u00", sequence[0]);
    } else {
      line.append(sequence);
    }
    text.remove_prefix(sequence.size());
  }
  line.append(1, '"');
}

template <typename Number>
void append_number(std::string& line, Number number) {
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number);
  line.append(buffer.data(), end.ptr);
}

}  // namespace

void Value::append_to(std::string& line) const {
  std::visit(
      [&line](auto value) {
        if constexpr (std::is_same_v<decltype(value), std::string_view>) {
          append_quoted(line, value);
        } else if constexpr (std::is_same_v<decltype(value), bool>) {
          line.append(value ? "true" : "false");
        } else {
          append_number(line, value);
        }
      },
      value_);
}

void Value::append_json_to(std::string& line) const {
  if (const auto* text = std::get_if<std::string_view>(&value_)) return append_json(line, *text);
  // JSON has no infinity or NaN.
  const auto* real = std::get_if<double>(&value_);
  if (real != nullptr && !std::isfinite(*real)) {
    line.append("null");
    return;
  }
  append_to(line);
}

}  // namespace allot::log
