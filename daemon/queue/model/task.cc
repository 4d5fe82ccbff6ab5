// SPDX-License-Identifier: Apache-2.0
#include "queue/model/task.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <vector>

#include "base/names.h"

namespace allot::queue {
namespace {

bool is_word(std::string_view word, std::size_t most) {
  return !word.empty() && word.size() <= most && std::all_of(word.begin(), word.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  });
}

// https://www.crockford.com/base32.html: no i, l, o, u, so that an id can be read aloud.
constexpr std::string_view kAlphabet = "0123456789abcdefghjkmnpqrstvwxyz";

void put_varint(std::vector<std::uint8_t>& bytes, std::uint64_t value) {
  while (value >= 0x80) {
    bytes.push_back(static_cast<std::uint8_t>(value | 0x80));
    value >>= 7;
  }
  bytes.push_back(static_cast<std::uint8_t>(value));
}

std::optional<std::uint64_t> take_varint(const std::vector<std::uint8_t>& bytes, std::size_t& at) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 35 && at < bytes.size(); shift += 7) {
    const std::uint8_t byte = bytes[at++];
    value |= std::uint64_t{byte & 0x7fU} << shift;
    if ((byte & 0x80) == 0) return value;
  }
  return std::nullopt;
}

std::optional<std::vector<std::uint8_t>> decode(std::string_view word) {
  std::vector<std::uint8_t> bytes;
  std::uint32_t pending = 0;
  unsigned bits = 0;
  for (const char c : word) {
    const std::size_t digit = kAlphabet.find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    pending = (pending << 5) | static_cast<std::uint32_t>(digit);
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push_back(static_cast<std::uint8_t>(pending >> bits));
    pending &= (1U << bits) - 1;
  }
  if (pending != 0) return std::nullopt;
  return bytes;
}

}  // namespace

std::string precise_text(std::chrono::sys_time<std::chrono::microseconds> moment) {
  const auto day = std::chrono::floor<std::chrono::days>(moment);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss time(moment - day);
  std::array<char, 96> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d.%06dZ", int(date.year()),
                unsigned(date.month()), unsigned(date.day()),
                static_cast<int>(time.hours().count()), static_cast<int>(time.minutes().count()),
                static_cast<int>(time.seconds().count()),
                static_cast<int>(time.subseconds().count()));
  return text.data();
}

std::string moment_text(std::chrono::sys_time<std::chrono::microseconds> moment) {
  std::string text = precise_text(moment);
  constexpr std::string_view kWhole = ".000000Z";
  if (text.ends_with(kWhole)) text.replace(text.size() - kWhole.size(), kWhole.size(), "Z");
  return text;
}

std::string TaskId::first_due() const {
  using std::chrono::microseconds;
  return precise_text(std::chrono::sys_time<microseconds>(std::chrono::milliseconds(kKeysBeginMs) +
                                                          microseconds(first_key >> 12)));
}

std::string TaskId::text() const {
  std::vector<std::uint8_t> bytes;
  put_varint(bytes, partition.queue_id);
  put_varint(bytes, std::uint64_t{partition.partition_no} * kPrioClasses + prio);
  for (int shift = 56; shift >= 0; shift -= 8) {
    bytes.push_back(static_cast<std::uint8_t>(first_key >> shift));
  }
  std::string word;
  std::uint32_t pending = 0;
  unsigned bits = 0;
  for (const std::uint8_t byte : bytes) {
    pending = (pending << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      word += kAlphabet[(pending >> bits) & 31U];
    }
    pending &= (1U << bits) - 1;
  }
  if (bits > 0) word += kAlphabet[(pending << (5 - bits)) & 31U];
  return word;
}

std::optional<TaskId> TaskId::parse(std::string_view text) {
  if (text.empty() || text.size() > 40) return std::nullopt;
  std::string word(text);  // lower case: ids are read aloud and typed
  for (char& c : word) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  const auto bytes = decode(word);
  if (!bytes) return std::nullopt;
  std::size_t at = 0;
  const auto queue_id = take_varint(*bytes, at);
  const auto place = take_varint(*bytes, at);
  if (!queue_id || !place || *queue_id > UINT32_MAX || *place > 0xffffU * kPrioClasses + 3 ||
      bytes->size() - at != 8) {
    return std::nullopt;
  }
  TaskId id;
  id.partition.queue_id = static_cast<std::uint32_t>(*queue_id);
  id.partition.partition_no = static_cast<std::uint32_t>(*place / kPrioClasses);
  id.prio = static_cast<std::uint32_t>(*place % kPrioClasses);
  for (; at < bytes->size(); ++at) id.first_key = (id.first_key << 8) | (*bytes)[at];
  // Except for case, an id has only one valid spelling.
  if (id.text() != word) return std::nullopt;
  return id;
}

bool is_name(std::string_view word) {
  return is_word(word, kMaxQueueName);
}

bool is_type(std::string_view word) {
  return is_word(word, kMaxTypeName);
}

}  // namespace allot::queue
