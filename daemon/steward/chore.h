// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.h"

namespace allot::steward {

// A recurring job of the steward (loop.h). It runs in small steps: no other chore runs during a
// step.
class Chore {
 public:
  Chore() = default;
  Chore(const Chore&) = delete;
  Chore& operator=(const Chore&) = delete;
  virtual ~Chore() = default;

  // Does what is due, for at most a twentieth of a second besides the statement in progress. Costs
  // one clock read if nothing is due.
  virtual void look() = 0;
  // Time of the next look(): CLOCK_BOOTTIME.
  [[nodiscard]] virtual Nanos next_ns() const = 0;
  // A drain is about to leave: completes what is due now, within a second.
  virtual void finish() {}
};

}  // namespace allot::steward
