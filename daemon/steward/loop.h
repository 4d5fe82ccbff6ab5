// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "ipc/board.h"
#include "process/slot_writer.h"
#include "steward/chore.h"
#include "steward/leadership.h"

namespace allot::steward {

// Runs the chores of the steward, in their order. It alone checks who leads, limits the time of a
// run, and reports errors: a chore that fails is tried again ten seconds later, and does not delay
// the others.
class Loop {
 public:
  Loop(Leadership& leadership, process::SlotWriter& slot) : leadership_(leadership), slot_(slot) {}

  // Makes this host a candidate for the duties of the chore.
  void add(Chore chore);
  void add(std::vector<Chore> chores);

  // Runs due chores until this process is asked to leave. In between it sleeps until the next one
  // is due, the bell rings, or a signal comes.
  void attend(ipc::Bell& bell);
  // Renews the terms and runs what is due. Returns the time of the next round: CLOCK_BOOTTIME.
  Nanos round();
  // Completes the chores of a drain that leaves, within a second.
  void finish();
  // Gives all duties back, and lets the chores write for the last time.
  void leave();

  [[nodiscard]] const std::vector<Chore>& chores() const { return chores_; }

 private:
  void run(Chore& chore, Nanos until);
  [[nodiscard]] Nanos until_turn(Chore& chore) const;
  [[nodiscard]] Again step(Chore& chore);

  Leadership& leadership_;
  process::SlotWriter& slot_;
  std::vector<Chore> chores_;
};

}  // namespace allot::steward
