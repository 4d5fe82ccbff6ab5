// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace allot {

// FNV-1a over a sequence of texts: the same in each version and build.
class Checksum {
 public:
  Checksum() = default;
  explicit Checksum(std::string_view text) { add(text); }
  void add(std::string_view text) {
    for (const char c : text) add(c);
  }
  // With a byte 0 behind it, so that parts that join to the same text differ.
  void add_part(std::string_view text) {
    add(text);
    add('\0');
  }
  [[nodiscard]] std::uint64_t value() const { return hash_; }
  // Hexadecimal, with leading zeros up to `digits`.
  [[nodiscard]] std::string hex(std::size_t digits = 1) const {
    std::array<char, 16> text{};
    const std::string_view number(
        text.data(), std::to_chars(text.data(), text.data() + text.size(), hash_, 16).ptr);
    return std::string(digits - std::min(digits, number.size()), '0').append(number);
  }

 private:
  void add(char byte) { hash_ = (hash_ ^ static_cast<unsigned char>(byte)) * 1099511628211U; }

  std::uint64_t hash_ = 14695981039346656037U;
};

}  // namespace allot
