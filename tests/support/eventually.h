// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <poll.h>

#include <chrono>
#include <concepts>

namespace allot::support {

// Waits until `condition()` is true: the only way in which a test may wait. False when the deadline
// passed first. The default deadline is long, because only a failing test ever waits that long, and
// sanitizers on a busy machine are slow.
template <std::predicate Condition>
[[nodiscard]] bool eventually(Condition condition,
                              std::chrono::milliseconds deadline = std::chrono::seconds(20)) {
  const auto end = std::chrono::steady_clock::now() + deadline;
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= end) return condition();
    ::poll(nullptr, 0, 3);
  }
  return true;
}

}  // namespace allot::support
