// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "db/connection.h"
#include "ipc/slot.h"
#include "meter/meter.h"
#include "peer/drain_budget.h"
#include "process/run_state.h"
#include "queue/model/lease.h"
#include "queue/verbs/block.h"
#include "thread/mutex.h"

namespace allot::process {

// This worker's own slot. The worker writes everything that a settler needs before it acts (S9),
// and the count after the entry, so that a death between any two instructions leaves a true record.
class SlotWriter {
 public:
  // `slot` is mapped writable and outlives this object; `notify_fd` may be -1.
  SlotWriter(ipc::Slot& slot, int notify_fd) : slot_(slot), notify_fd_(notify_fd) {}

  void start(const queue::Holder& holder);
  void set_state(ipc::WorkerState state);
  // For the steward, before its first set_state(): its readiness does not make the daemon ready.
  void run_no_tasks() { ready_ = ipc::kReadyWithoutTasks; }
  void beat();
  [[nodiscard]] ipc::Slot& raw() { return slot_; }

  // Records connection `which`, before it is used: 0 is the block loop's, 1 the lease keeper's,
  // then the runners' connections. `uptime` is the result of queue::server_uptime() there.
  void connected(std::size_t which, const db::Connection& connection, std::chrono::seconds uptime);

  void begin_lease(queue::Partition partition, std::string_view queue_name, bool exclusive);
  void lease_known(std::uint64_t epoch, std::uint64_t deadline_ns);
  void lease_deadline(std::uint64_t deadline_ns);
  void end_lease();
  // Time by which a handler must have ended because its queue promises one at a time (S5), as the
  // supervisor reads it from the slot: CLOCK_BOOTTIME, 0 = no such handler runs. Any thread may
  // call it; it never blocks.
  [[nodiscard]] std::uint64_t exclusive_deadline_ns() const;

  // A run, at its own entry in the slot (< ipc::kMaxRunning). All but mark() and move_deadline()
  // are for the thread that makes or begins the run.
  void name_run(std::size_t entry, queue::Partition partition, std::string_view queue_name,
                const queue::Task& task, std::uint32_t attempt, std::uint32_t max_attempts);
  // Call it before the handler begins. 0: no deadline.
  void set_deadlines(std::size_t entry, Nanos soft_ns, Nanos hard_ns, ipc::Limit limited_by);
  // One thread at a time, while the run is in its handler. `percent` is 0 to 100.
  void show_progress(std::size_t entry, std::uint32_t percent, std::string_view word);
  // Any thread may call it while the run is in its handler; wait-free.
  void move_deadline(std::size_t entry, Nanos hard_ns, ipc::Limit limited_by);
  [[nodiscard]] Nanos hard_deadline_ns(std::size_t entry) const {
    return std::atomic_ref(slot_.runs[entry].hard_deadline_ns).load();
  }
  // Moves the run along its table. False: the table has no such transition, and nothing changed.
  // Any thread may call it; it never blocks.
  bool mark(std::size_t entry, RunEvent event);
  [[nodiscard]] ipc::RunState state(std::size_t entry) const {
    return slot_.run_states[entry].load();
  }

  // `budget` belongs to a drain, and outlives this object.
  void use(peer::DrainBudget* budget) { budget_ = budget; }
  // False: a drain has reached its limit of starts.
  [[nodiscard]] bool may_start() { return budget_ == nullptr || peer::take(*budget_); }
  [[nodiscard]] bool may_start_none() const { return budget_ != nullptr && budget_->allowed <= 0; }
  // Call it after may_start(), if no handler here knows the type.
  void not_started() {
    if (budget_ != nullptr) peer::refund(*budget_);
  }

  // `meter` passes from worker to worker, and outlives this object. Without one, counts are only in
  // the slot, until this worker ends. Any thread may count.
  void use(meter::Meter* meter) { meter_ = meter; }
  void count(meter::Count what, std::string_view queue, std::string_view type,
             const meter::Took& took = {});
  void count(meter::Event what);
  // In addition to the verdict, see Meter::count_error().
  void count_error(meter::Count verdict, const meter::ErrorName& name);

  // The tasks of the lease that have finished and are not acknowledged. Any thread may call these.
  // Call add_finished() before the end of the run, so that a death in between does not charge a
  // finished task.
  void add_finished(const queue::Finished& task);
  [[nodiscard]] std::vector<queue::Finished> finished() const;
  // When the first of them was added; 0: there are none.
  [[nodiscard]] Nanos finished_since_ns() const { return finished_since_ns_.load(); }
  // Drops acknowledged tasks; others may have been added since.
  void drop_finished(std::span<const queue::Finished> acked);
  void clear_finished();

  // While one of these exists, a thread that runs tasks is in a handler, in a call with a deadline,
  // or asleep, and the pulse thread beats for it. A main thread that is stuck anywhere else counts
  // as frozen, once no other thread runs a task.
  class Guard {
   public:
    explicit Guard(SlotWriter& slot) : slot_(slot) { slot_.guards_.fetch_add(1); }
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;
    ~Guard() {
      slot_.beat();
      slot_.guards_.fetch_sub(1);
    }

   private:
    SlotWriter& slot_;
  };
  [[nodiscard]] bool guarded() const { return guards_.load() > 0; }

 private:
  // Shows the finished tasks in the slot, from this index on.
  void show_finished(std::size_t from) ALLOT_REQUIRES(mutex_);

  ipc::Slot& slot_;
  mutable Mutex mutex_;
  // A settler reads keys and flags of it from the slot.
  std::vector<queue::Finished> finished_ ALLOT_GUARDED_BY(mutex_);
  std::atomic<Nanos> finished_since_ns_{0};
  int notify_fd_;
  std::uint64_t ready_ = ipc::kReady;
  peer::DrainBudget* budget_ = nullptr;
  meter::Meter* meter_ = nullptr;
  std::atomic<int> guards_{0};
};

}  // namespace allot::process
