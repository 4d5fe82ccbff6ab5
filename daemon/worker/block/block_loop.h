// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "worker/block/block_in_hand.h"
#include "worker/settle/recovery.h"

namespace allot::worker {

// The worker's main loop: lease a partition, work on its blocks, release it. Detached tasks may
// continue during the next leases. BlockInHand and JobRunner have all steps of a task between fetch
// and acknowledgement.
class BlockLoop {
 public:
  BlockLoop(BlockInHand::Parts parts, Recovery& recovery)
      : parts_(std::move(parts)), recovery_(recovery) {
    parts_.look = [this] { recovery_.look(); };
  }

  // Runs until asked to leave.
  void run();
  // Works on one lease, until it is released.
  void work(Finder::Found found);

 private:
  [[nodiscard]] bool room_for_a_lease();
  void wait_for_all();

  BlockInHand::Parts parts_;
  Recovery& recovery_;
  Executor::Need need_;  // of the task that the next lease has to wait for
};

}  // namespace allot::worker
