// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "base/clock.h"
#include "ipc/slot.h"

namespace allot::worker {

inline Nanos in_nanos(std::chrono::milliseconds time) {
  return static_cast<Nanos>(time.count()) * kMilli;
}

// Deadlines of a run. Times are CLOCK_BOOTTIME.
struct TaskLimits {
  Nanos soft_ns = 0;            // stop_requested is true from then on
  Nanos time_ns = 0;            // its time limit
  Nanos progress_every_ns = 0;  // promised by its handler; 0: none

  struct Hard {
    Nanos at_ns;
    ipc::Limit by;
  };
  // Deadline of a run that made progress at `now`: its time limit, or earlier if its handler
  // promised progress (B3).
  [[nodiscard]] Hard hard(Nanos now) const {
    const Nanos silent_until = now + progress_every_ns;
    if (progress_every_ns == 0 || silent_until >= time_ns) return {time_ns, ipc::Limit::kTime};
    return {silent_until, ipc::Limit::kProgress};
  }
};

}  // namespace allot::worker
