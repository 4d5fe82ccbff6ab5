// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <string_view>

#include "db/connection.h"
#include "ipc/slot.h"
#include "peer/drain_budget.h"
#include "queue/block.h"
#include "queue/lease.h"

namespace allot::worker {

// This worker's own slot. The worker writes everything that a settler needs before it acts (S9),
// and the count after the entry, so that a death between any two instructions leaves a true record.
class SlotWriter {
 public:
  // `slot` is mapped writable and outlives this object; `notify_fd` may be -1.
  SlotWriter(ipc::Slot& slot, int notify_fd) : slot_(slot), notify_fd_(notify_fd) {}

  void start(const queue::Holder& holder);
  void set_state(ipc::WorkerState state);
  void beat();
  [[nodiscard]] ipc::Slot& raw() { return slot_; }

  // Notes connection `which`, before it is used: 0 is the block loop's, 1 the lease keeper's, then
  // those of the runners. `uptime` is what queue::server_uptime() just returned there.
  void connected(std::size_t which, const db::Connection& connection, std::chrono::seconds uptime);

  void begin_lease(queue::Partition partition, std::string_view queue_name, bool exclusive);
  void lease_known(std::uint64_t epoch, std::uint64_t deadline_ns);
  void lease_deadline(std::uint64_t deadline_ns);
  void end_lease();
  // When a handler must have ended because its queue promises one at a time (S5), as the supervisor
  // reads it from the slot: CLOCK_BOOTTIME, 0 = no such handler runs. Any thread may call it; it
  // waits for no other one.
  [[nodiscard]] std::uint64_t exclusive_deadline_ns() const;

  // In the functions below `entry` is the task's index among running tasks (< ipc::kMaxRunning):
  // from its announcement or its begin to its end no other task has it, and only one thread uses
  // it. Where tasks run one at a time it is the first.

  // The attempt is about to be written, and then to start (S7). If the worker dies before it
  // starts, its settler gives it back.
  void announce_task(const queue::Task& task, std::uint32_t attempt, std::size_t entry = 0);
  void begin_task(const queue::Task& task, std::uint32_t attempt, std::uint32_t max_attempts,
                  std::uint64_t soft_deadline_ns, std::uint64_t hard_deadline_ns,
                  ipc::Limit limited_by = ipc::Limit::kTime, std::size_t entry = 0);
  // The running task may go on until then. Any thread may call it.
  void move_deadline(std::uint64_t hard_deadline_ns, ipc::Limit limited_by, std::size_t entry = 0);
  // Its handler has returned: from now on nobody kills the worker for this task, while its verdict
  // is written.
  void end_handler(std::size_t entry = 0);
  void task_detached(std::size_t entry = 0);
  // The running task's handler ended without a verdict, and its attempt is about to be given back;
  // the settler does it if this worker dies or leaves before.
  void task_interrupted(std::size_t entry = 0);
  // The running task has finished detached, and is about to be acknowledged there.
  void detached_finished(std::size_t entry = 0);
  // The announced attempt is charged, or was given back.
  void end_announced(std::size_t entry = 0);
  void end_task(std::size_t entry = 0);

  // `budget` belongs to a drain, and outlives this object.
  void use(peer::DrainBudget* budget) { budget_ = budget; }
  // False: a drain has started all that it may.
  [[nodiscard]] bool may_start() { return budget_ == nullptr || peer::take(*budget_); }
  [[nodiscard]] bool may_start_none() const { return budget_ != nullptr && budget_->allowed <= 0; }
  // Call it after may_start(), when no handler here knows the type.
  void not_started() {
    if (budget_ != nullptr) peer::put_back(*budget_);
  }
  void count_done();
  void count_retried();
  void count_dead();

  // Call it before end_task(), so that a death in between does not charge a finished task. Any
  // thread may call it.
  void add_finished(const queue::Finished& task);
  void clear_finished();
  // Drops acknowledged tasks; others may have been added meanwhile.
  void drop_finished(std::span<const queue::Finished> acked);

  // As long as one of these lives, a thread that runs tasks is in a handler, in a call with a
  // deadline, or asleep, and the pulse thread beats for it. A main thread that is stuck anywhere
  // else counts as frozen, once no other thread runs a task.
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
  ipc::RunningTask& name_task(const queue::Task& task, std::size_t entry);
  [[nodiscard]] bool counts(std::size_t entry);
  void count_running();
  void set_exclusive(bool exclusive);
  void set_announced(std::size_t entry, std::uint32_t announced);
  void set_attempt(std::size_t entry, std::uint32_t attempt);

  ipc::Slot& slot_;
  std::mutex mutex_;  // guards state of several entries, and the finished tasks
  int notify_fd_;
  peer::DrainBudget* budget_ = nullptr;
  bool exclusive_ = false;  // the queue of the lease in hand
  std::atomic<int> guards_{0};
};

}  // namespace allot::worker
