// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "plugin_host/registry.h"
#include "process/lifetime.h"
#include "process/session.h"
#include "process/slot_writer.h"
#include "queue/model/lease.h"
#include "queue/verbs/block.h"
#include "queue/verbs/lease_store.h"
#include "worker/block/careful_turn.h"
#include "worker/block/in_hand.h"
#include "worker/job/executor.h"
#include "worker/lease/finder.h"
#include "worker/lease/grant.h"
#include "worker/lease/lease_keeper.h"

namespace allot::worker {

// One lease in hand, from its first block to its release: makes jobs of the tasks, collects their
// ends, acknowledges, and fetches more. Only the block loop makes it, in the worker's main thread.
//
// A task of an ordered or limited partition runs alone in it (S16); a task that runs with care is
// alone in the whole worker (S7). A handler that takes several tasks in a call gets the tasks of
// its type from the rest of the block (A13). In a capped queue a long task does not leave its
// partition; the next tasks are fetched as soon as there is room next to it (S51).
class BlockInHand {
 public:
  // Parts of the worker that a block needs. All outlive it.
  struct Parts {
    Session& session;
    Finder& finder;
    LeaseKeeper& keeper;
    SlotWriter& slot;
    Executor& executor;
    const plugin_host::Registry& registry;
    CarefulTurn& careful_turn;
    Lifetime* lifetime = nullptr;  // nullptr: this worker stays
    // Called for each task that is put back because no handler here knows its type.
    std::function<void(const queue::TaskId&, const std::string& type)> on_unknown{};
    // Called between two leases, and from time to time in a lease that continues.
    std::function<void()> look{};

    // True: no further task may start here.
    [[nodiscard]] bool done() const;
  };

  BlockInHand(const Parts& parts, Finder::Found found);

  // Works until the lease is released. Returns what the next lease has to wait for: the conditions
  // of a task that could not start because of a task that has left the partition.
  Executor::Need work();

 private:
  using Result = TaskEnd::Result;
  enum class Next {
    kGoOn,
    kLeave,    // release the lease
    kDetached  // the lease has ended with a task that was detached
  };
  [[nodiscard]] bool mark_suspects();
  void mark_called();
  Next run_block();
  Next start_jobs();
  Next start_job(const Executor::Need& need);
  [[nodiscard]] bool fills_up() const { return share_ > 1; }
  Next fill_up();
  [[nodiscard]] bool may_fetch(Nanos now) const;
  [[nodiscard]] bool is_over();
  [[nodiscard]] bool goes_on();
  [[nodiscard]] bool one_at_a_time() const;
  [[nodiscard]] Executor::Need need_of(const queue::Task& task) const;
  Next make_way(const Executor::Need& need);
  [[nodiscard]] Job next_job(const Executor::Need& need);
  [[nodiscard]] std::size_t most_like(const queue::Task& task) const;
  void uncount();
  void not_started(const Job& job);
  void put_back(Job& job, const std::vector<TaskEnd>& ends);
  Next collect();
  Next ended(const queue::Task& task, const TaskEnd& end, const Job& job);
  Next wait_for_all();
  [[nodiscard]] bool fetches_ahead() const;
  [[nodiscard]] std::size_t kept_back() const;
  Next wait_for_most();

  [[nodiscard]] bool wait_for_turn(const queue::Task& task);

  void ack();
  [[nodiscard]] bool ack_is_due(Nanos within) const;
  void ack_in_time();
  void fetch_more();
  [[nodiscard]] queue::FetchSpec fetch_spec();
  [[nodiscard]] std::vector<queue::Task> fetch_granted();
  void fetch_ahead();
  [[nodiscard]] bool full(std::size_t fetched) const;
  void acked();
  void finish();
  void forget();
  void defer_unknown();
  void start_with_deferred();
  bool call_forward();
  Next hold_unknown(const queue::Task& task);
  void log_unknown(const std::string& type, const std::string& first, std::size_t tasks);

  const Parts& parts_;
  const queue::Lease lease_;
  const std::shared_ptr<const ServedQueue> served_;  // as of this lease
  const ServedQueue& queue_;
  const std::uint32_t share_;       // tasks that may run at a time in the partition; 0: any number
  const std::uint32_t block_size_;  // number of tasks in a fetch
  Nanos until_ns_;                  // no further task starts then

  std::vector<queue::Task> tasks_;  // the ones before next_ have started
  std::size_t next_ = 0;
  std::size_t by_itself_ = 0;  // number of next tasks that were in a failed call
  bool first_ = true;          // no task of this fetch has started yet
  Nanos fetched_ns_;           // when tasks_ was read
  Grant grant_;                // which of tasks_ may start
  bool full_;                  // at the last fetch, the partition may have had more tasks
  InHand in_hand_;
  bool others_waited_ = false;  // at the time when the lease should have ended
  bool alone_runs_ = false;     // the sole job of the partition has not been collected

  std::vector<queue::Finished> finished_;  // done, not acknowledged; mirrored in the slot
  Nanos oldest_finished_ns_ = 0;
  std::vector<queue::Task> unknown_;  // of types without a handler here, to be deferred
  bool deferred_;                     // some tasks that others deferred may have a handler here
  queue::Deferral hold_;              // wait of the partition after this lease, and its task (S16)
  bool patient_ = true;               // false: the wait for a careful turn failed
  Executor::Need need_;               // see work()
};

}  // namespace allot::worker
