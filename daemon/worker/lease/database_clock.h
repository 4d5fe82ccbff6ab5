// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>

#include "base/clock.h"
#include "queue/model/lease.h"

namespace allot::worker {

// This worker's copy of the database time, which never goes back (S15). If the database clock is
// set back, due tasks stay due, and a pause does not become an hour longer. This time then runs at
// half speed until the clock has caught up, so a pause takes up to twice as long until then. A
// worker that starts after the step does not know about it.
class DatabaseClock {
 public:
  // Notes the clock of a call that was sent and answered at these times (CLOCK_BOOTTIME).
  void saw(std::chrono::microseconds clock, Nanos sent, Nanos answered) {
    if (seen_ns_ != 0) {
      const auto least = clock_ + since(sent);
      const auto most = clock_ + between(sent_ns_, answered);  // it may be as old as its call
      auto ahead = this->ahead(answered);
      if (clock + kStep < least) ahead += most - clock;
      if (clock > most + kStep) ahead -= std::min(ahead, clock - most);
      // A clock that was so far ahead was wrong: nothing waits until it is that late again.
      ahead_ = ahead > kMost ? std::chrono::microseconds(0) : ahead;
    }
    clock_ = clock;
    sent_ns_ = sent;
    seen_ns_ = answered;
  }

  // How far this time is ahead of the database clock; mostly 0.
  [[nodiscard]] std::chrono::microseconds ahead(Nanos now) const {
    return ahead_ - std::min(ahead_, since(now) / 2);
  }

  // For the pauses of the present lease.
  [[nodiscard]] queue::HolderTime time(Nanos now) const {
    if (ahead(now).count() == 0) return {};
    return {clock_ + since(now) + ahead(now), now};
  }

 private:
  static constexpr std::chrono::microseconds kStep = std::chrono::seconds(1);
  static constexpr std::chrono::microseconds kMost = std::chrono::hours(24);

  [[nodiscard]] std::chrono::microseconds since(Nanos now) const { return between(seen_ns_, now); }
  static std::chrono::microseconds between(Nanos from, Nanos to) {
    return std::chrono::microseconds((std::max(to, from) - from) / kMicro);
  }

  std::chrono::microseconds clock_{0};
  std::chrono::microseconds ahead_{0};  // at seen_ns_
  Nanos sent_ns_ = 0;                   // of the call that showed clock_
  Nanos seen_ns_ = 0;                   // of its answer
};

}  // namespace allot::worker
