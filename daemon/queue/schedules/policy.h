// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "queue/schedules/tick.h"

// Policy for due ticks. Pure: no database, no calendar, no clock.
namespace allot::queue {

// The ticks after a schedule's next_run until some moment, and the first one after that.
struct LaterTicks {
  std::vector<Moment> newest;  // oldest first
  std::uint64_t count = 0;
  bool at_least = false;  // there are more
  std::optional<Moment> next{};
};

// Later ticks that the policy needs: until this moment by the database's clock, and at most this
// many. In a pause that is over, all ticks are dropped.
struct Question {
  Moment until{};
  std::size_t most = 1;
};
Question question_of(const Schedule& schedule, Moment now);

// Steps of a schedule with a due next_run at `now`. Their number is bounded (S36), and after the
// last one next_run is in the future, or the next due tick. `free_since`: for a waiting schedule,
// since when its key is free, if known. `queue` is its queue.
std::vector<Tick> steps_of(const Schedule& schedule, const QueueInfo& queue, Moment now,
                           const LaterTicks& later, std::optional<Moment> free_since);

}  // namespace allot::queue
