// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/clock.h"
#include "queue/verbs/block.h"

namespace allot::worker {

// Measures the resource usage of a handler run, from its construction on.
class UsageMeter {
 public:
  // `of_thread`: only the calling thread, because other threads run handlers at the same time.
  explicit UsageMeter(bool of_thread = false);
  // Since `started_ns` (CLOCK_BOOTTIME).
  [[nodiscard]] queue::Usage until_now(Nanos started_ns) const;

 private:
  bool of_thread_;
  std::uint64_t cpu_us_;
};

}  // namespace allot::worker
