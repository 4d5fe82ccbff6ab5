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
  [[nodiscard]] Nanos pause() const { return pause_; }
  void failed(Nanos now) {
    pause_ = pause_ == 0 ? first_ : std::min(most_, pause_ * 2);
    not_before_ = now + pause_;
  }
  void reset() { pause_ = not_before_ = 0; }

 private:
  Nanos first_, most_, pause_ = 0, not_before_ = 0;
};

}  // namespace allot::supervisor
