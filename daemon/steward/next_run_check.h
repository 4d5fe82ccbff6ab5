// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <utility>

#include "base/clock.h"
#include "db/connection.h"
#include "queue/schedules/bound.h"
#include "schedule/calendar.h"

namespace allot::steward {

// Finds schedules whose next tick lies further ahead than the calendar says, and sets it back
// (S57): the database's clock was ahead for some time, and their ticks until then have run. Only
// what two rounds in a row find is set back, so a clock that is behind for some seconds changes
// nothing. For the thread of the steward; any number of hosts may do this at once.
class NextRunCheck {
 public:
  NextRunCheck(schedule::Calendar& calendar, std::function<bool()> leads)
      : calendar_(calendar), leads_(std::move(leads)) {}

  // One page of the round, if it is time: `now` is CLOCK_BOOTTIME.
  void look(db::Connection& db, Nanos now);
  [[nodiscard]] Nanos next_ns() const { return next_ns_; }

 private:
  // A version and next_run that were found to be too far ahead.
  using Seen = std::pair<std::uint64_t, queue::Moment>;

  void check(db::Connection& db, const queue::FarSchedule& schedule);
  void end_round(Nanos now);

  schedule::Calendar& calendar_;
  std::function<bool()> leads_;
  std::map<std::uint32_t, Seen> found_;   // by this round
  std::map<std::uint32_t, Seen> before_;  // by the round before
  std::uint32_t after_ = 0;
  Nanos next_ns_ = 0;
};

}  // namespace allot::steward
