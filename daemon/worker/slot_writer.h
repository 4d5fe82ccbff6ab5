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
#include "peer/tally.h"
#include "queue/lease.h"
#include "queue/task_store.h"

namespace allot::worker {

// This worker's own slot. Everything that a settler needs is written before the act (S9), the count
// after the entry, so that a death between any two instructions leaves a true record.
class SlotWriter {
 public:
  // `slot` is mapped writable and outlives this; `notify_fd` may be -1.
  SlotWriter(ipc::Slot& slot, int notify_fd) : slot_(slot), notify_fd_(notify_fd) {}

  void start(const queue::Holder& holder);
  void set_state(ipc::WorkerState state);
  void beat();
  [[nodiscard]] ipc::Slot& raw() { return slot_; }

  // Connection `which`: 0 the block loop's, 1 the lease keeper's, then those of the runners. Before
  // it is used; `uptime`: what queue::server_uptime() told there just now.
  void connected(std::size_t which, const db::Connection& connection, std::chrono::seconds uptime);

  void begin_lease(queue::Partition partition, std::string_view queue_name, bool exclusive);
  void lease_known(std::uint64_t epoch, std::uint64_t deadline_ns);
  void lease_deadline(std::uint64_t deadline_ns);
  void end_lease();

  // From here on `entry` is the task's place among those that run (< ipc::kMaxRunning): from its
  // announcement or its begin to its end it is nobody else's, and one thread's. Where tasks run one
  // at a time it is the first.

  // The attempt is about to be written, and then to start (S7). A worker that dies before it starts
  // has it given back by its settler.
  void announce_task(const queue::Task& task, std::uint32_t attempt, std::size_t entry = 0);
  void begin_task(const queue::Task& task, std::uint32_t attempt, std::uint32_t max_attempts,
                  std::uint64_t soft_deadline_ns, std::uint64_t hard_deadline_ns,
                  ipc::Limit limited_by = ipc::Limit::kTime, std::size_t entry = 0);
  // The running task may go on until then. From any thread.
  void move_deadline(std::uint64_t hard_deadline_ns, ipc::Limit limited_by, std::size_t entry = 0);
  // Its handler has returned: nothing is to be killed any more, while its verdict is being written.
  void end_handler(std::size_t entry = 0);
  void task_detached(std::size_t entry = 0);
  // The running task's handler ended without a verdict, and its attempt is about to be given back:
  // by the settler, should this worker die or leave before that is written.
  void task_interrupted(std::size_t entry = 0);
  // The running task is finished, and about to be acknowledged where it was detached to.
  void detached_finished(std::size_t entry = 0);
  // What was announced is charged, or was given back.
  void end_announced(std::size_t entry = 0);
  void end_task(std::size_t entry = 0);

  // Of a drain; outlives this.
  void use(peer::Tally* tally) { tally_ = tally; }
  // False: a drain has started all that it may.
  [[nodiscard]] bool may_start() { return tally_ == nullptr || peer::take(*tally_); }
  [[nodiscard]] bool may_start_none() const { return tally_ != nullptr && tally_->allowed <= 0; }
  // After may_start(): its type is not known here.
  void not_started() {
    if (tally_ != nullptr) peer::give_back(*tally_);
  }
  void count_done();
  void count_retried();
  void count_dead();

  // To be called before end_task(), so that a death in between does not charge a finished task.
  // From any thread.
  void add_finished(const queue::Finished& task);
  void clear_finished();
  // These are acknowledged; others may have been added meanwhile.
  void drop_finished(std::span<const queue::Finished> acked);

  // While one of these lives a thread that runs tasks is in a handler, in a call with a deadline,
  // or asleep: the pulse thread beats for it. A main thread stuck anywhere else is seen as frozen,
  // once no other runs.
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
  void set_announced(std::size_t entry, std::uint32_t announced);
  void set_attempt(std::size_t entry, std::uint32_t attempt);

  ipc::Slot& slot_;
  std::mutex mutex_;  // of what depends on several entries, and of the finished
  int notify_fd_;
  peer::Tally* tally_ = nullptr;
  bool exclusive_ = false;  // the queue of the lease in hand
  std::atomic<int> guards_{0};
};

}  // namespace allot::worker
