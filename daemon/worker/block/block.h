// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "queue/model/lease.h"
#include "queue/model/task.h"
#include "queue/verbs/lease_store.h"
#include "worker/block/parts.h"
#include "worker/block/running_tasks.h"
#include "worker/lease/grant.h"

namespace allot::worker {

// The tasks of a lease: fetches them, knows which of them wait and which run, and acknowledges the
// finished ones, which are listed in the slot only. For LeaseRun, in the worker's main thread.
class Block {
 public:
  // `size`: number of tasks in a fetch. `cap_part`: see LeasedBlock.
  Block(const BlockParts& parts, queue::Block leased, std::uint32_t size, std::uint32_t cap_part,
        const Grant& grant);

  [[nodiscard]] const queue::Lease& lease() const { return lease_; }
  [[nodiscard]] std::uint32_t size() const { return size_; }
  // The tasks that have not started.
  [[nodiscard]] std::deque<queue::Task>& waiting() { return waiting_; }
  [[nodiscard]] const std::deque<queue::Task>& waiting() const { return waiting_; }
  // Number of tasks that have started and were not collected.
  [[nodiscard]] std::size_t running() const { return running_.size(); }
  // At the last fetch, the partition may have had more tasks.
  [[nodiscard]] bool full() const { return full_; }
  [[nodiscard]] Nanos fetched_ns() const { return fetched_ns_; }

  // Takes the next task for a call, and up to `most` - 1 of the others that join it. The rest keep
  // their order.
  [[nodiscard]] std::vector<queue::Task> start(
      std::size_t most, const std::function<bool(const queue::Task&)>& joins);
  void collected(const queue::Task& task) { running_.collected(task.key); }
  // The task comes next again. `called`: it was in a failed call.
  void put_back(queue::Task task, bool called);
  // One of the waiting tasks has to start in this lease, even if its time is up: none of the
  // fetched tasks has started, or they were in a failed call, which the next lease would repeat.
  [[nodiscard]] bool requires_one() const { return requires_one_; }

  // Acknowledges, and fetches the next tasks as `grant` allows. Tasks of an earlier fetch that
  // still run are not among them.
  void fetch(Grant& grant);
  // Fetches the waiting tasks again, because others have come before them (S66).
  void fetch_again(const Grant& grant);

  void ack();
  [[nodiscard]] bool ack_is_due(Nanos extension = 0) const;
  void ack_in_time();
  // Acknowledges, and ends the lease; the partition then waits for `deferral`.
  void release(const queue::Deferral& deferral, const Grant& grant);
  // The lease has ended with a detached task, which acknowledged the finished ones.
  void drop_lease() { parts_.finder.drop_lease(); }

 private:
  [[nodiscard]] queue::FetchSpec fetch_spec();
  [[nodiscard]] bool is_full(std::size_t fetched, const Grant& grant) const;

  const BlockParts& parts_;
  const queue::Lease lease_;
  const std::uint32_t size_;
  const bool counts_running_;  // each fetch reads the running tasks again
  std::deque<queue::Task> waiting_;
  RunningTasks running_;
  Nanos fetched_ns_;
  bool full_;
  bool requires_one_ = true;
};

}  // namespace allot::worker
