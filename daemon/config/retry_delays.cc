// SPDX-License-Identifier: Apache-2.0
#include "config/retry_delays.h"

#include <algorithm>

namespace allot::config {

std::chrono::microseconds RetryDelays::delay(std::uint32_t attempt, std::uint32_t dice) const {
  if (!list.empty()) return list[std::min<std::size_t>(std::max(attempt, 1U), list.size()) - 1];
  const std::chrono::microseconds cap = most;
  std::chrono::microseconds wait = first;
  // Compares before each doubling, because 2^30 times a first delay of hours does not fit into 64
  // bits.
  for (std::uint32_t n = 1; n < attempt && wait < cap && wait.count() > 0; ++n) wait *= 2;
  const std::chrono::microseconds capped = std::min(wait, cap);
  // 800 .. 1200 thousandths.
  return capped * (800 + static_cast<std::int64_t>(dice % 401)) / 1000;
}

}  // namespace allot::config
