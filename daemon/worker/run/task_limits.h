// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "base/clock.h"
#include "ipc/slot.h"

namespace allot::worker {

inline Nanos in_nanos(std::chrono::milliseconds time) {
  return static_cast<Nanos>(time.count()) * kMilli;
}

// When a run of a task has to end. Times are CLOCK_BOOTTIME.
struct TaskLimits {
  Nanos soft_ns = 0;            // stop_requested is true from then on
  Nanos time_ns = 0;            // its time limit
  Nanos progress_every_ns = 0;  // what its handler promised; 0: nothing

  struct Hard {
    Nanos at_ns;
    ipc::Limit by;
  };
  // The deadline of a run that made progress at `now`: its time limit, or sooner when its handler
  // promised progress (B3).
  [[nodiscard]] Hard hard(Nanos now) const {
    const Nanos silent_until = now + progress_every_ns;
    if (progress_every_ns == 0 || silent_until >= time_ns) return {time_ns, ipc::Limit::kTime};
    return {silent_until, ipc::Limit::kProgress};
  }
};

}  // namespace allot::worker
