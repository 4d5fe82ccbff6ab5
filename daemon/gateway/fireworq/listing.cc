// SPDX-License-Identifier: Apache-2.0
#include "gateway/fireworq/listing.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <system_error>

#include "base/error.h"
#include "gateway/fireworq/path.h"
#include "json/base64.h"

namespace allot::gateway::fireworq {
namespace {

constexpr std::size_t kUsualLimit = 100;
constexpr std::uint64_t kMostLimit = 1'000;

std::string padded(std::int64_t number, std::size_t digits) {
  std::string text = std::to_string(number);
  return text.size() < digits ? std::string(digits - text.size(), '0') + text : text;
}

template <typename Number>
std::optional<Number> read_number(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

std::string time_text(std::int64_t ms) {
  using std::chrono::milliseconds;
  const std::chrono::sys_time<milliseconds> time{milliseconds(ms)};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  std::string text = padded(static_cast<int>(date.year()), 4) + "-" +
                     padded(static_cast<unsigned>(date.month()), 2) + "-" +
                     padded(static_cast<unsigned>(date.day()), 2) + "T" +
                     padded(clock.hours().count(), 2) + ":" + padded(clock.minutes().count(), 2) +
                     ":" + padded(clock.seconds().count(), 2);
  if (const auto part = clock.subseconds().count(); part != 0) {
    std::string decimals = padded(part, 3);
    while (decimals.back() == '0') decimals.pop_back();
    text += "." + decimals;
  }
  return text + "Z";
}

std::string cursor_text(const queue::ListPlace& place) {
  return as_json::to_base64(std::to_string(place.ms) + "," + std::to_string(place.id));
}

std::optional<queue::ListPlace> read_cursor(std::string_view text) {
  const auto plain = as_json::from_base64(text);
  if (!plain) return std::nullopt;
  const std::string_view view = *plain;
  const std::size_t comma = view.find(',');
  if (comma == std::string_view::npos) return std::nullopt;
  const auto ms = read_number<std::int64_t>(view.substr(0, comma));
  const auto id = read_number<std::uint64_t>(view.substr(comma + 1));
  // Limits the time, so that later calculations cannot overflow.
  constexpr std::int64_t kLast = 7'000'000'000'000;
  if (!ms || !id || *ms < 0 || *ms > kLast) return std::nullopt;
  return queue::ListPlace{*ms, *id};
}

queue::ListAsk list_ask(std::string_view query) {
  queue::ListAsk ask;
  ask.limit = kUsualLimit;
  if (const auto limit = parameter(query, "limit")) {
    const std::size_t sign = limit->starts_with('+') ? 1 : 0;
    if (const auto number = read_number<std::uint64_t>(std::string_view(*limit).substr(sign))) {
      ask.limit = std::min(*number, kMostLimit);
    }
  }
  ask.latest_first = parameter(query, "order") != "asc";
  if (const auto cursor = parameter(query, "cursor")) ask.from = read_cursor(*cursor);
  return ask;
}

}  // namespace allot::gateway::fireworq
