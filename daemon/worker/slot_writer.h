// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
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

  // Connection `which`: 0 the block loop's, 1 the lease keeper's.
  void connected(int which, const db::Connection& connection);

  void begin_lease(queue::Partition partition, std::string_view queue_name, bool exclusive);
  void lease_known(std::uint64_t epoch, std::uint64_t deadline_ns);
  void lease_deadline(std::uint64_t deadline_ns);
  void end_lease();

  // The attempt is about to be written, and then to start (S7). A worker that dies before it starts
  // has it given back by its settler.
  void announce_task(const queue::Task& task, std::uint32_t attempt);
  void begin_task(const queue::Task& task, std::uint32_t attempt, std::uint32_t max_attempts,
                  std::uint64_t soft_deadline_ns, std::uint64_t hard_deadline_ns,
                  ipc::Limit limited_by = ipc::Limit::kTime);
  // The running task may go on until then. From any thread.
  void move_deadline(std::uint64_t hard_deadline_ns, ipc::Limit limited_by);
  // Its handler has returned: nothing is to be killed any more, while its verdict is being written.
  void end_handler();
  void task_detached();
  // The running task's handler ended without a verdict, and its attempt is about to be given back:
  // by the settler, should this worker die or leave before that is written.
  void task_interrupted();
  // What was announced is charged, or was given back.
  void end_announced() { set_announced(false); }
  void end_task();

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
  void add_finished(const queue::Finished& task);
  void clear_finished();

  // While one of these lives the main thread is in a handler, in a call with a deadline, or asleep:
  // the pulse thread beats for it. A main thread stuck anywhere else is seen as frozen.
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
  ipc::RunningTask& name_task(const queue::Task& task, std::uint32_t attempt);
  void set_announced(bool announced);

  ipc::Slot& slot_;
  int notify_fd_;
  peer::Tally* tally_ = nullptr;
  bool exclusive_ = false;  // the queue of the lease in hand
  std::atomic<int> guards_{0};
};

}  // namespace allot::worker
