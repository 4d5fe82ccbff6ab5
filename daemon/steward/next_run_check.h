// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "base/clock.h"
#include "db/connection.h"
#include "queue/schedules/schedule_store.h"
#include "schedule/calendar.h"

namespace allot::steward {

// Finds schedules whose next tick is further ahead than the calendar says, and sets it back (S57):
// the database clock was ahead for some time, and their ticks until then have run. Only findings of
// two rounds in a row are set back, so a clock that is a few seconds behind changes nothing. For
// the thread of the steward; any number of hosts may do this at once.
class NextRunCheck {
 public:
  explicit NextRunCheck(schedule::Calendar& calendar) : calendar_(calendar) {}

  // Checks one page of the round, if it is time: `now` is CLOCK_BOOTTIME.
  void check(db::Connection& db, Nanos now);
  [[nodiscard]] Nanos next_ns() const { return next_ns_; }
  // Begins the first of two rounds: another host may have led since.
  void forget();

 private:
  // A version and a next_run that is too far ahead.
  using Seen = std::pair<std::uint64_t, queue::Moment>;

  void check(db::Connection& db, const queue::FarSchedule& schedule);
  void end_round(Nanos now);

  schedule::Calendar& calendar_;
  std::map<std::uint32_t, Seen> found_;   // in this round
  std::map<std::uint32_t, Seen> before_;  // in the previous round
  std::uint32_t after_ = 0;
  Nanos next_ns_ = 0;
};

}  // namespace allot::steward
