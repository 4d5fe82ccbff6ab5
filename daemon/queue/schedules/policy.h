// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "queue/schedules/tick.h"

// What becomes of ticks that are due. Pure: no database, no calendar, no clock.
namespace allot::queue {

// The ticks behind a schedule's next_run until some moment, and the first one after that.
struct LaterTicks {
  std::vector<Moment> newest;  // in their order
  std::uint64_t count = 0;
  bool at_least = false;  // there are more
  std::optional<Moment> next{};
};

// Until which moment, by the database's clock, the policy wants to know the later ticks, and how
// many of them. In a pause that is over they are all dropped.
struct Question {
  Moment until{};
  std::size_t most = 1;
};
Question question_of(const Schedule& schedule, Moment now);

// The steps that a schedule takes at `now`, whose next_run is due. Their number is bounded (S36),
// and after the last one next_run is in the future, or the next tick that is due. `free_since`: of
// a schedule that waits, since when its key has been free, if anybody knows. `queue` is its queue.
std::vector<Tick> steps_of(const Schedule& schedule, const QueueInfo& queue, Moment now,
                           const LaterTicks& later, std::optional<Moment> free_since);

}  // namespace allot::queue
