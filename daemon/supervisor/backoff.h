// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "base/clock.h"

namespace allot::supervisor {

// Doubling delays between failing tries. Times are CLOCK_MONOTONIC.
class Backoff {
 public:
  constexpr explicit Backoff(Nanos first = 100 * kMilli, Nanos most = 30 * kSecond)
      : first_(first), most_(most) {}

  [[nodiscard]] bool due(Nanos now) const { return now >= not_before_; }
  [[nodiscard]] Nanos not_before() const { return not_before_; }
  [[nodiscard]] Nanos delay() const { return delay_; }
  void failed(Nanos now) {
    delay_ = delay_ == 0 ? first_ : std::min(most_, delay_ * 2);
    not_before_ = now + delay_;
  }
  void reset() { delay_ = not_before_ = 0; }

 private:
  Nanos first_, most_, delay_ = 0, not_before_ = 0;
};

}  // namespace allot::supervisor
