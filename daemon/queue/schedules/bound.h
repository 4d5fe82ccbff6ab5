// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "db/connection.h"
#include "queue/schedules/schedule.h"

// The bound of next_run after the database's clock was ahead (S57). The steward computes the
// calendar.
namespace allot::queue {

// How far next_run may lie beyond the first tick from now on. Up to this, a clock that steps back
// repeats no tick; beyond it, a schedule does not wait for the clock to get there again.
[[nodiscard]] std::chrono::microseconds next_run_tolerance();

struct FarSchedule {
  std::uint32_t schedule_id = 0;
  std::uint64_t version = 0;
  ScheduleSpec spec;  // name, expression, zone and jitter only
  Moment next_run{};
  Moment clock{};  // the database's
};

// Schedules behind the number `after` whose tick is due later than the tolerance from now, in the
// order of their numbers. Paused ones are left out: resuming decides about them.
std::vector<FarSchedule> far_schedules(db::Connection& db, std::uint32_t after, std::size_t most);

// False: it is not as it was seen, or the clock has gone on since.
bool reset_next_run(db::Connection& db, const FarSchedule& seen, Moment next_run);

}  // namespace allot::queue
