// SPDX-License-Identifier: Apache-2.0
#include "pipe/base64.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace pipe_plugin {
namespace {

constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t kNone = 64;

constexpr std::array<std::uint8_t, 256> kValues = [] {
  std::array<std::uint8_t, 256> values{};
  values.fill(kNone);
  std::uint8_t value = 0;
  for (const char digit : kDigits) values[static_cast<unsigned char>(digit)] = value++;
  return values;
}();

}  // namespace

std::string to_base64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  std::uint32_t bits = 0;
  unsigned count = 0;
  for (const char byte : bytes) {
    bits = (bits << 8U) | static_cast<unsigned char>(byte);
    for (count += 8; count >= 6; count -= 6) text += kDigits[(bits >> (count - 6)) & 63U];
  }
  if (count > 0) text += kDigits[(bits << (6 - count)) & 63U];
  text.append((4 - text.size() % 4) % 4, '=');
  return text;
}

std::optional<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  for (int padding = 0; padding < 2 && text.ends_with('='); ++padding) text.remove_suffix(1);
  if (text.size() % 4 == 1) return std::nullopt;
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3 + 2);
  std::uint32_t bits = 0;
  unsigned count = 0;
  for (const char digit : text) {
    const std::uint8_t value = kValues[static_cast<unsigned char>(digit)];
    if (value == kNone) return std::nullopt;
    bits = (bits << 6U) | value;
    count += 6;
    if (count >= 8) bytes += static_cast<char>((bits >> (count -= 8)) & 255U);
  }
  // With stray bits two texts would have the same meaning.
  if ((bits & ((1U << count) - 1)) != 0) return std::nullopt;
  return bytes;
}

}  // namespace pipe_plugin
