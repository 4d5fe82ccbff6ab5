// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>

#include "queue/model/lease.h"
#include "worker/block/block.h"
#include "worker/block/starter.h"
#include "worker/block/unknown_types.h"
#include "worker/job/executor.h"
#include "worker/job/job.h"
#include "worker/lease/grant.h"

namespace allot::worker {

// The run of one lease, from its first block to its release: starts jobs, collects their ends,
// acknowledges, and fetches more. Detached tasks may continue during the next leases. Made in the
// worker's main thread.
class LeaseRun {
 public:
  LeaseRun(const BlockParts& parts, LeasedBlock found);

  // Works until the lease is released. Returns what the next lease has to wait for: the conditions
  // of a task that could not start because of a task that has left the partition.
  Executor::Need run();

 private:
  // The next step; the first end of a task that requires it ends the block.
  enum class Next {
    kContinue,
    kLeave,    // release the lease
    kDetached  // the lease has ended with a task that was detached
  };
  [[nodiscard]] bool continues() const { return next_ == Next::kContinue; }
  void follow_with(Next next) {
    if (continues()) next_ = next;
  }
  void leave() { follow_with(Next::kLeave); }

  [[nodiscard]] bool call_forward();
  void run_block();
  [[nodiscard]] bool fetch_next();

  void start_jobs();
  [[nodiscard]] bool wait_until_ready(const Executor::Need& need);
  void start_job(const Executor::Need& need);
  void fill_up();
  [[nodiscard]] bool may_fill_up(Nanos now) const;
  [[nodiscard]] bool fetches_ahead() const;
  [[nodiscard]] std::size_t headroom() const { return block_.size() / 4; }
  void wait_for_headroom();
  void wait_for_all();
  void wait(std::chrono::milliseconds timeout = Executor::kPollEvery,
            std::optional<std::size_t> left = std::nullopt);

  void collect();
  [[nodiscard]] Next after(const queue::Task& task, const TaskEnd& end, const Job& job);
  void put_back(JobEnd& end);

  const BlockParts& parts_;
  const std::shared_ptr<const ServedQueue> served_;  // as of this lease
  const ServedQueue& queue_;
  Block block_;
  Starter starter_;
  UnknownTypes unknown_;
  Next next_ = Next::kContinue;
  bool sole_runs_ = false;    // the sole job of the partition has not been collected
  queue::Deferral deferral_;  // of the partition after this lease, and its task (S16)
  Executor::Need need_;       // see run()
};

// The worker's main loop: leases a partition, works on its blocks, and releases it, until asked to
// leave.
void run_leases(const BlockParts& parts);

}  // namespace allot::worker
