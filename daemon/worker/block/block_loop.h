// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "worker/block/block.h"
#include "worker/block/lease_run.h"

namespace allot::worker {

// The worker's main loop: lease a partition, work on its blocks, release it. Detached tasks may
// continue during the next leases. LeaseRun and JobRunner have all steps of a task between fetch
// and acknowledgement.
class BlockLoop {
 public:
  explicit BlockLoop(BlockParts parts) : parts_(std::move(parts)) {}

  // Runs until asked to leave.
  void run();
  // Works on one lease, until it is released.
  void work(LeasedBlock found);

 private:
  void wait();

  const BlockParts parts_;
  Executor::Need need_;  // of the task that the next lease has to wait for
};

}  // namespace allot::worker
