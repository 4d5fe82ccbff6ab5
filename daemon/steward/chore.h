// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.h"

namespace allot::steward {

// One thing that the steward does now and then (loop.h). It does a little at a time: while it is at
// it, nothing else is done.
class Chore {
 public:
  Chore() = default;
  Chore(const Chore&) = delete;
  Chore& operator=(const Chore&) = delete;
  virtual ~Chore() = default;

  // Does what is due, for a twentieth of a second at most beside the statement that it is in. Costs
  // one look at the clock where nothing is.
  virtual void look() = 0;
  // When it wants the next look: CLOCK_BOOTTIME.
  [[nodiscard]] virtual Nanos next_ns() const = 0;
  // A drain is about to leave: does what is due now to its end, within a second.
  virtual void finish() {}
};

}  // namespace allot::steward
