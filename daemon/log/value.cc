// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>

#include "log/log.h"

namespace allot::log {
namespace {

using Byte = unsigned char;

bool is_continuation(Byte byte) {
  return (byte & 0xC0U) == 0x80U;
}

// Length of the well-formed UTF-8 sequence at the start of `text`, 0 if there is none. Refuses
// overlong forms, surrogates and everything above U+10FFFF (RFC 3629, section 4).
std::size_t sequence_length(std::string_view text) {
  const auto at = [&](std::size_t i) {
    return static_cast<Byte>(i < text.size() ? text[i] : '\0');
  };
  const Byte first = at(0);
  if (first < 0x80) return 1;
  if (first < 0xC2 || first > 0xF4) return 0;
  if (!is_continuation(at(1))) return 0;
  if (first < 0xE0) return 2;
  if (first == 0xE0 && at(1) < 0xA0) return 0;
  if (first == 0xED && at(1) > 0x9F) return 0;
  if (first == 0xF0 && at(1) < 0x90) return 0;
  if (first == 0xF4 && at(1) > 0x8F) return 0;
  if (!is_continuation(at(2))) return 0;
  if (first < 0xF0) return 3;
  return is_continuation(at(3)) ? 4 : 0;
}

// C0, DEL and C1: each of them can control a terminal.
bool is_control(std::string_view sequence) {
  const auto first = static_cast<Byte>(sequence[0]);
  if (sequence.size() == 1) return first < 0x20 || first == 0x7F;
  return first == 0xC2 && static_cast<Byte>(sequence[1]) < 0xA0;
}

void append_hex(std::string& out, char byte) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const auto value = static_cast<Byte>(byte);
  out.append("\\x").append(1, kDigits[value >> 4U]).append(1, kDigits[value & 0xFU]);
}

// Appends `sequence` escaped; false when it needs no escape and was appended as it is.
bool append_escaped(std::string& out, std::string_view sequence, bool valid) {
  if (valid && !is_control(sequence)) {
    const bool special = sequence[0] == '"' || sequence[0] == '\\';
    if (special) out.append(1, '\\');
    out.append(sequence);
    return special;
  }
  switch (sequence[0]) {
    case '\n':
      out.append("\\n");
      return true;
    case '\r':
      out.append("\\r");
      return true;
    case '\t':
      out.append("\\t");
      return true;
    default:
      break;
  }
  for (const char byte : sequence) append_hex(out, byte);
  return true;
}

void append_quoted(std::string& line, std::string_view text) {
  const std::size_t begin = line.size();
  bool quote = text.empty();
  line.append(1, '"');
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
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
    const std::size_t length = sequence_length(text);
    const std::string_view sequence = text.substr(0, length == 0 ? 1 : length);
    const auto first = static_cast<Byte>(sequence[0]);
    if (length == 0) {
      line.append("\xef\xbf\xbd");
    } else if (first == '"' || first == '\\') {
      line.append(1, '\\').append(sequence);
    } else if (first < 0x20 || first == 0x7F) {
      constexpr std::string_view kDigits = "0123456789abcdef";
      line.append("\\u00").append(1, kDigits[first >> 4U]).append(1, kDigits[first & 0xFU]);
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
  switch (kind_) {
    case Kind::kText:
      append_quoted(line, text_);
      return;
    case Kind::kFlag:
      line.append(text_);
      return;
    case Kind::kSigned:
      append_number(line, signed_);
      return;
    case Kind::kUnsigned:
      append_number(line, unsigned_);
      return;
    case Kind::kReal:
      append_number(line, real_);
      return;
  }
}

void Value::append_json_to(std::string& line) const {
  if (kind_ == Kind::kText) return append_json(line, text_);
  // JSON has no infinity or NaN.
  if (kind_ == Kind::kReal && !std::isfinite(real_)) {
    line.append("null");
    return;
  }
  append_to(line);
}

std::string quoted(std::string_view text) {
  std::string out;
  append_quoted(out, text);
  return out;
}

}  // namespace allot::log
