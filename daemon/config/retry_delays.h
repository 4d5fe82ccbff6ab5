// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

namespace allot::config {

// Exponential back-off with jitter: first, 2 x, 4 x ... up to `most`, each within +-20 %, so that
// tasks that failed together do not return together. Or a list of exact delays, whose last one
// repeats.
struct RetryDelays {
  std::chrono::milliseconds first{5'000};
  std::chrono::milliseconds most{3'600'000};
  std::vector<std::chrono::milliseconds> list{};  // if not empty, replaces the other two

  // Delay after attempt number `attempt` (from 1). `dice` is any random number.
  [[nodiscard]] std::chrono::microseconds delay(std::uint32_t attempt, std::uint32_t dice) const;
};

}  // namespace allot::config
