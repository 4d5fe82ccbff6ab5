// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "meter/record.h"

// Sum of the counts of all slots of an instance, in one run of its allotd. For metrics and
// commands.
namespace allot::meter {

inline constexpr std::size_t kCounts = static_cast<std::size_t>(Count::kCounts);
inline constexpr std::size_t kEvents = static_cast<std::size_t>(Event::kEvents);

// The same queue and type in the records of several slots.
struct Total {
  std::uint64_t counts[kCounts] = {};
  std::uint64_t buckets[kBuckets] = {};
  std::uint64_t waits[kBuckets] = {};
  std::uint64_t ran_us = 0;
  std::uint64_t elapsed_ms = 0;

  [[nodiscard]] std::uint64_t of(Count what) const {
    return counts[static_cast<std::size_t>(what)];
  }
  [[nodiscard]] bool any() const;
};

// The same group of errors in the records of several slots.
struct ErrorTotal {
  std::string sample{};
  std::uint64_t retried = 0;
  std::uint64_t dead = 0;
};

struct Totals {
  std::map<std::pair<std::string, std::string>, Total> pairs{};  // by queue and type
  // By queue, type and group.
  std::map<std::tuple<std::string, std::string, std::string>, ErrorTotal> errors{};
  std::uint64_t events[kEvents] = {};
};

[[nodiscard]] Totals totals(const std::string& runtime_dir);

}  // namespace allot::meter
