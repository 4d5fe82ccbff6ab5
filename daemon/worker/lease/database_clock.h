// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>

#include "base/clock.h"
#include "queue/model/lease.h"

namespace allot::worker {

// The time of the database as this worker keeps it, which never goes back (S15). When the
// database's clock is set back, what was due before stays due, and a pause that somebody waits for
// does not become longer by an hour. This time then goes on at half speed until the clock has
// caught up with it, so that a pause takes up to twice as long meanwhile. A worker that starts
// after the step knows nothing of it.
class DatabaseClock {
 public:
  // What the clock said in a call that was sent and answered at these times (CLOCK_BOOTTIME).
  void saw(std::chrono::microseconds clock, Nanos sent, Nanos answered) {
    if (seen_ns_ != 0) {
      const auto least = clock_ + since(sent);
      const auto most = clock_ + between(sent_ns_, answered);  // it may be as old as its call
      auto ahead = this->ahead(answered);
      if (clock + kStep < least) ahead += most - clock;
      if (clock > most + kStep) ahead -= std::min(ahead, clock - most);
      // A clock that was ahead by so much was wrong: nobody waits until it is that late again.
      ahead_ = ahead > kMost ? std::chrono::microseconds(0) : ahead;
    }
    clock_ = clock;
    sent_ns_ = sent;
    seen_ns_ = answered;
  }

  // By how much this time is ahead of the database's clock; mostly 0.
  [[nodiscard]] std::chrono::microseconds ahead(Nanos now) const {
    return ahead_ - std::min(ahead_, since(now) / 2);
  }

  // For the pauses of what is leased now.
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
  Nanos sent_ns_ = 0;                   // the call that showed clock_
  Nanos seen_ns_ = 0;                   // its answer
};

}  // namespace allot::worker
