// SPDX-License-Identifier: Apache-2.0
#include "queue/model/rate.h"

#include <algorithm>

namespace allot::queue {
namespace {

constexpr std::size_t kPlaces = 6;
constexpr std::uint64_t kMillion = 1'000'000;
// A row is locked from a charge until its transaction is on disk.
constexpr std::uint64_t kPerBucket = 200;  // starts in a second
constexpr std::uint64_t kMostBuckets = 16;
constexpr std::uint64_t kLeastHoldUs = 200'000;
constexpr std::uint64_t kMostLateUs = 200'000;
constexpr std::uint64_t kMostGrantUs = 100'000;

bool is_digits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::uint64_t divided_up(std::uint64_t what, std::uint64_t by) {
  return (what + by - 1) / by;
}

}  // namespace

std::optional<std::uint64_t> parse_per_second(std::string_view text) {
  const std::size_t point = text.find('.');
  const std::string_view whole = text.substr(0, point);
  std::string places(point == std::string_view::npos ? "0" : text.substr(point + 1));
  if (!is_digits(whole) || whole.size() > 9 || !is_digits(places) || places.size() > kPlaces) {
    return std::nullopt;
  }
  places.resize(kPlaces, '0');
  return std::stoull(std::string(whole)) * kMillion + std::stoull(places);
}

std::string per_second_text(std::uint64_t per_million_seconds) {
  std::string text = std::to_string(per_million_seconds / kMillion);
  std::string places = std::to_string(per_million_seconds % kMillion + kMillion).substr(1);
  places.erase(places.find_last_not_of('0') + 1);
  return places.empty() ? text : text + "." + places;
}

std::string text_of(const Rate& rate) {
  return per_second_text(rate.per_million_seconds) + "/s, burst " + std::to_string(rate.burst);
}

std::vector<Bucket> buckets_of(const Rate& rate) {
  const std::uint64_t in_second = divided_up(rate.per_million_seconds, kMillion);
  const std::uint64_t count =
      std::clamp<std::uint64_t>(divided_up(in_second, kPerBucket), 1, kMostBuckets);
  // Rounded up, so that a queue never exceeds its rate.
  const auto interval_us = [&](std::uint64_t starts) {
    return divided_up(starts * kMillion * kMillion, rate.per_million_seconds);
  };
  const std::uint64_t between = interval_us(count);
  const std::uint64_t holds = std::max(interval_us(1) * rate.burst, kLeastHoldUs);
  const std::uint64_t most = rate.per_million_seconds * kMostGrantUs / kMillion / kMillion;
  // Without a burst, a start that is late by the trips of the polling worker would delay all later
  // ones. A quarter of the interval still keeps any two starts apart.
  const std::uint64_t late = std::min(between / 4, kMostLateUs);
  const std::uint64_t hold = std::max(holds - std::min(holds, between), late);
  const Bucket bucket{static_cast<std::int64_t>(between), static_cast<std::int64_t>(hold),
                      static_cast<std::uint32_t>(std::max<std::uint64_t>(1, most))};
  return std::vector<Bucket>(count, bucket);
}

}  // namespace allot::queue
