// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace allot::schedule {

// Seconds since 1970, in UTC.
using Instant = std::int64_t;

// Time zone as seen by next(). The instants of a local time follow from this one function: none in
// a gap, two in a fold.
class Zone {
 public:
  Zone() = default;
  Zone(const Zone&) = delete;
  Zone& operator=(const Zone&) = delete;
  virtual ~Zone() = default;
  // Offset of the zone's clocks from UTC at that instant, in seconds (positive: ahead).
  [[nodiscard]] virtual std::int64_t offset(Instant at) const = 0;
};

// Maximum number of counted ticks: a schedule of every second that was not checked for a year has
// 31 million.
inline constexpr std::uint64_t kMostCounted = 2'000;

// Ticks of a past period.
struct Missed {
  std::vector<Instant> newest;  // in chronological order
  std::uint64_t count = 0;
  bool at_least = false;        // true if there are more than were counted
  std::optional<Instant> next;  // first tick after the period; nullopt: none within 50 years
  bool operator==(const Missed&) const = default;
};

// Computes when schedules run, from their expressions and zones. Throws an Error for an invalid
// expression or zone.
class Calendar {
 public:
  Calendar() = default;
  Calendar(const Calendar&) = delete;
  Calendar& operator=(const Calendar&) = delete;
  virtual ~Calendar() = default;

  // The first ticks after `after`: up to `most` of those until `until`, and at least one, however
  // late it is. Empty: none within 50 years.
  virtual std::vector<Instant> upcoming(const std::string& expression, const std::string& zone,
                                        Instant after, Instant until, std::size_t most) = 0;
  // The ticks after `after`, which is a tick itself, until `until`: the newest `most` of them.
  // Number and effort are bounded, however long the period is.
  virtual Missed missed(const std::string& expression, const std::string& zone, Instant after,
                        Instant until, std::size_t most) = 0;

  // The first tick after `after`; nullopt: none within 50 years.
  std::optional<Instant> next(const std::string& expression, const std::string& zone,
                              Instant after) {
    const std::vector<Instant> ticks = upcoming(expression, zone, after, after, 1);
    return ticks.empty() ? std::nullopt : std::optional(ticks.front());
  }
};

}  // namespace allot::schedule
