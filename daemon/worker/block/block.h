// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "plugin_host/registry.h"
#include "process/lifetime.h"
#include "process/session.h"
#include "process/slot_writer.h"
#include "process/stop_request.h"
#include "queue/model/lease.h"
#include "queue/model/task.h"
#include "queue/verbs/lease_store.h"
#include "worker/job/executor.h"
#include "worker/lease/finder.h"
#include "worker/lease/grant.h"
#include "worker/lease/lease_keeper.h"
#include "worker/settle/recovery.h"

namespace allot::worker {

class CarefulTurn;

// Parts of the worker that the block loop and its leases use. All outlive them.
struct BlockParts {
  process::Session& session;
  Finder& finder;
  LeaseKeeper& keeper;
  process::SlotWriter& slot;
  Executor& executor;
  const plugin_host::Registry& registry;
  CarefulTurn& careful_turn;
  Recovery& recovery;
  process::Lifetime& lifetime;
  // Called for each task that is put back because no handler here knows its type.
  std::function<void(const queue::TaskId&, const std::string& type)> on_unknown{};

  // True: no further task may start here.
  [[nodiscard]] bool done() const {
    lifetime.check();
    return process::leaving();
  }
};

// Tasks of a lease that have started and were not collected, for a fetch that finds them again.
// Only the block loop uses it.
class RunningTasks {
 public:
  void started(const queue::TaskKey& key) { keys_.insert(place_of(key), key); }
  // A detached task of an earlier lease is not among them.
  void collected(const queue::TaskKey& key) {
    const auto at = place_of(key);
    if (at != keys_.end() && *at == key) keys_.erase(at);
  }
  [[nodiscard]] std::size_t size() const { return keys_.size(); }
  // In their order; valid until the next call.
  [[nodiscard]] std::span<const queue::TaskKey> keys() const { return keys_; }

  // Removes from `fetched` the tasks in hand, and all that would raise their number above `most`: a
  // worker that takes over suspects that many tasks (S7), and the slot has room for them. Returns
  // the number of fetched tasks that are among them.
  std::size_t keep_others(std::vector<queue::Task>& fetched, std::size_t most) const {
    if (keys_.empty()) return 0;
    const std::size_t again = std::erase_if(fetched, [this](const queue::Task& task) {
      return std::binary_search(keys_.begin(), keys_.end(), task.key);
    });
    const std::size_t room = most - std::min(most, keys_.size());
    if (fetched.size() > room)
      fetched.erase(fetched.begin() + static_cast<std::ptrdiff_t>(room), fetched.end());
    return again;
  }

 private:
  std::vector<queue::TaskKey>::iterator place_of(const queue::TaskKey& key) {
    return std::lower_bound(keys_.begin(), keys_.end(), key);
  }

  std::vector<queue::TaskKey> keys_;  // sorted
};

// The tasks of a lease: fetches them, knows which of them wait and which run, and acknowledges the
// finished ones, which are listed in the slot only. For LeaseRun, in the worker's main thread.
class Block {
 public:
  Block(const BlockParts& parts, const ServedQueue& queue, LeasedBlock leased);

  [[nodiscard]] const queue::Lease& lease() const { return lease_; }
  // Number of tasks in a fetch.
  [[nodiscard]] std::uint32_t size() const { return size_; }
  [[nodiscard]] std::uint32_t cap_part() const { return cap_part_; }  // see LeasedBlock
  [[nodiscard]] bool deferred() const { return deferred_; }           // see Offer
  // In a capped queue a long task does not leave its partition; the next tasks are fetched as soon
  // as there is room next to it (S51).
  [[nodiscard]] bool fills_up() const { return cap_part_ > 1; }
  // Which of its tasks may start.
  [[nodiscard]] Grant& grant() { return grant_; }
  [[nodiscard]] const Grant& grant() const { return grant_; }
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

  // Acknowledges, and fetches the next tasks as the next grant allows. Tasks of an earlier fetch
  // that still run are not among them.
  void fetch();
  // Fetches the waiting tasks again, because others have come before them (S66).
  void fetch_again();

  void ack();
  [[nodiscard]] bool ack_is_due(Nanos extension = 0) const;
  void ack_in_time();
  // Acknowledges, and ends the lease; the partition then waits for `deferral`.
  void release(const queue::Deferral& deferral);

 private:
  [[nodiscard]] queue::FetchSpec fetch_spec();
  [[nodiscard]] bool is_full(std::size_t fetched) const;

  const BlockParts& parts_;
  const queue::Lease lease_;
  const std::uint32_t size_;
  const std::uint32_t cap_part_;
  const bool deferred_;
  Grant grant_;
  std::deque<queue::Task> waiting_;
  RunningTasks running_;
  Nanos fetched_ns_;
  bool full_;
  bool requires_one_ = true;
};

}  // namespace allot::worker
