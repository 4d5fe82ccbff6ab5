// SPDX-License-Identifier: Apache-2.0
#include "queue/retry_policy.h"

#include <algorithm>

namespace allot::queue {

std::chrono::microseconds RetryPolicy::delay(std::uint32_t attempt, std::uint32_t dice) const {
  const std::uint32_t doublings = std::min(attempt > 0 ? attempt - 1 : 0U, 30U);
  const auto wait =
      std::chrono::duration_cast<std::chrono::microseconds>(first) * (1LL << doublings);
  const auto capped = std::min<std::chrono::microseconds>(wait, most);
  // 800 .. 1200 thousandths.
  return capped * (800 + static_cast<std::int64_t>(dice % 401)) / 1000;
}

}  // namespace allot::queue
