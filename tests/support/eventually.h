// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <concepts>

namespace allot::support {

// Waits until `condition()` is true: the only permitted way to wait in a test. False if the
// deadline passed first. The default deadline is long, because only a failing test waits that long,
// and sanitizers on a busy machine are slow. Between two checks it waits for the duration of a
// check: many checks run a program, and concurrent tests need the processor.
template <std::predicate Condition>
[[nodiscard]] bool eventually(Condition condition,
                              std::chrono::milliseconds deadline = std::chrono::seconds(20)) {
  using std::chrono::milliseconds;
  const auto end = std::chrono::steady_clock::now() + deadline;
  for (auto began = std::chrono::steady_clock::now(); !condition();
       began = std::chrono::steady_clock::now()) {
    const auto now = std::chrono::steady_clock::now();
    if (now >= end) return condition();
    const auto looked = std::chrono::duration_cast<milliseconds>(now - began);
    const auto pause = std::clamp(looked, milliseconds(3), milliseconds(250));
    ::poll(nullptr, 0, static_cast<int>(pause.count()));
  }
  return true;
}

}  // namespace allot::support
