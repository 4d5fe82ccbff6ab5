// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "db/connection.h"
#include "queue/schedules/schedule.h"

// Bound of next_run after the database's clock was ahead (S57). The steward computes the calendar.
namespace allot::queue {

// How far next_run may be after the first tick from now on. Within it, a clock that is set back
// repeats no tick; beyond it, a schedule does not wait until the clock has caught up.
[[nodiscard]] std::chrono::microseconds next_run_tolerance();

struct FarSchedule {
  std::uint32_t schedule_id = 0;
  std::uint64_t version = 0;
  ScheduleSpec spec;  // name, expression, zone and jitter only
  Moment next_run{};
  Moment clock{};  // of the database
};

// Schedules with a number above `after` whose tick is due later than the tolerance from now, by
// number. Paused ones are left out: resume handles them.
std::vector<FarSchedule> far_schedules(db::Connection& db, std::uint32_t after, std::size_t most);

// False: the schedule has changed since, or the clock has caught up.
bool reset_next_run(db::Connection& db, const FarSchedule& seen, Moment next_run);

}  // namespace allot::queue
