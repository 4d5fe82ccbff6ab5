// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "queue/model/lease.h"
#include "queue/model/task.h"
#include "worker/block/block.h"
#include "worker/run/served_queue.h"

namespace allot::worker {

// The tasks of a lease whose type has no handler here: puts them back (S65), and requeues tasks
// that others put back and that have a handler here (S66). For LeaseRun, in the worker's main
// thread.
class UnknownTypes {
 public:
  UnknownTypes(const BlockParts& parts, const Block& block, const ServedQueue& queue)
      : parts_(parts),
        lease_(block.lease()),
        block_size_(block.size()),
        queue_(queue),
        deferred_(block.deferred()) {}

  void add(const queue::Task& task);
  [[nodiscard]] bool any() const { return !unknown_.empty(); }
  // Puts the added tasks back.
  void defer();
  // For an ordered queue: later tasks may have the same key, so the task stays in its place.
  // Returns how long the partition waits.
  [[nodiscard]] queue::Deferral defer_partition(const queue::Task& task);

  // S66: requeues deferred tasks, up to the size of a block, before the tasks that this lease has
  // not fetched yet. In an ordered queue the task kept its place. True: some are due now.
  [[nodiscard]] bool call_forward();

 private:
  void log_unknown(const queue::Task& first, std::size_t tasks) const;
  [[nodiscard]] queue::TaskId id_of(const queue::Task& task) const {
    return {lease_.partition, task.key.prio, task.id_key()};
  }

  const BlockParts& parts_;
  const queue::Lease& lease_;
  const std::uint32_t block_size_;
  const ServedQueue& queue_;
  std::vector<queue::Task> unknown_;
  bool deferred_;  // the partition may have tasks that others put back
};

}  // namespace allot::worker
