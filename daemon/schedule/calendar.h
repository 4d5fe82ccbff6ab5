// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "schedule/zone.h"

namespace allot::schedule {

// More ticks than these are not counted: a schedule of every second that nobody looked after for a
// year has 31 million.
inline constexpr std::uint64_t kMostCounted = 2'000;

// The ticks of a time that is over.
struct Missed {
  std::vector<Instant> newest;  // in their order
  std::uint64_t count = 0;
  bool at_least = false;        // there are more than were counted
  std::optional<Instant> next;  // the first one afterwards; nothing: none comes within 50 years
  bool operator==(const Missed&) const = default;
};

// Says when schedules run, by their expressions and zones. Throws an Error for one that is none.
class Calendar {
 public:
  Calendar() = default;
  Calendar(const Calendar&) = delete;
  Calendar& operator=(const Calendar&) = delete;
  virtual ~Calendar() = default;

  // The first ticks after that instant: up to `most` of those until `until`, and at least one,
  // however late it is. Empty: none comes within 50 years.
  virtual std::vector<Instant> upcoming(const std::string& expression, const std::string& zone,
                                        Instant after, Instant until, std::size_t most) = 0;
  // The ticks after `after`, which is a tick itself, until `until`: `most` of them, the newest.
  // Neither their number nor the effort grows beyond a bound, however long that time is.
  virtual Missed missed(const std::string& expression, const std::string& zone, Instant after,
                        Instant until, std::size_t most) = 0;
};

}  // namespace allot::schedule
