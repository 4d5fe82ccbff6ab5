// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

#include "queue/model/lease.h"
#include "queue/model/task.h"

namespace allot::queue {

// A running task, and the right of this process to write for it (S6). The code that leased its
// partition, detached it or recovered it makes the fence, and every write about this task takes
// one. Only queue/verbs/ending.cc distinguishes whether the task is under its partition's lease or
// in task_running.
struct Fence {
  enum class Place {
    kPartition,  // row in `task`; the lease of its partition is the fence
    kDetached    // row in `task_running`, which is also the fence
  };

  TaskId id;
  std::uint64_t run_key = 0;  // its place in the partition; meaningless once detached
  std::uint64_t epoch = 0;
  std::uint64_t holder = 0;
  HolderTime time{};  // as in Lease
  Place place = Place::kPartition;

  [[nodiscard]] bool detached() const { return place == Place::kDetached; }
  [[nodiscard]] TaskKey key() const { return {id.prio, run_key}; }
  // The same task after it has left its partition, with the epoch of the lease that it left.
  [[nodiscard]] Fence once_detached() const {
    Fence fence = *this;
    fence.place = Place::kDetached;
    return fence;
  }
};

// The lease under which the fence was made.
[[nodiscard]] inline Lease lease_of(const Fence& fence) {
  return {fence.id.partition, fence.epoch, fence.holder, std::nullopt, fence.time};
}

[[nodiscard]] inline Fence fence(const Lease& lease, const Task& task) {
  return {{lease.partition, task.key.prio, task.id_key()},
          task.key.run_key,
          lease.epoch,
          lease.holder,
          lease.time,
          Fence::Place::kPartition};
}

}  // namespace allot::queue
