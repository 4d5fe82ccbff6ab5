// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/clock.h"
#include "queue/task_store.h"

namespace allot::worker {

// What a run of a handler uses, from here on.
class UsageMeter {
 public:
  UsageMeter();
  // Since `started_ns` (CLOCK_BOOTTIME).
  [[nodiscard]] queue::Usage until_now(Nanos started_ns) const;

 private:
  std::uint64_t cpu_us_;
};

}  // namespace allot::worker
