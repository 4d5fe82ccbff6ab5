// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

#include "queue/model/lease.h"
#include "queue/model/task.h"

namespace allot::queue {

// A running task, and the right by which this process writes for it (S6). Whoever leased its
// partition, detached it or recovered it makes the claim, and every write about this task takes
// one: whether it waits under its partition's lease or in task_running, only queue/verbs/ending.cc
// asks.
struct Claim {
  enum class Place {
    kPartition,  // its row is in `task`, and the lease of its partition is the fence
    kDetached    // its row is in `task_running`, and is the fence itself
  };

  TaskId id;
  std::uint64_t run_key = 0;  // its place in the partition; says nothing once it is detached
  std::uint64_t epoch = 0;
  std::uint64_t holder = 0;
  HolderTime time{};  // as in Lease
  Place place = Place::kPartition;

  [[nodiscard]] bool detached() const { return place == Place::kDetached; }
  [[nodiscard]] TaskKey key() const { return {id.prio, run_key}; }
  // The same task once it has left its partition, with the epoch of the lease that it left.
  [[nodiscard]] Claim once_detached() const {
    Claim claim = *this;
    claim.place = Place::kDetached;
    return claim;
  }
};

[[nodiscard]] inline Claim claim(const Lease& lease, const Task& task) {
  return {{lease.partition, task.key.prio, task.id_key()},
          task.key.run_key,
          lease.epoch,
          lease.holder,
          lease.time,
          Claim::Place::kPartition};
}

}  // namespace allot::queue
