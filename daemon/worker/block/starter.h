// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/clock.h"
#include "queue/model/task.h"
#include "worker/block/block.h"
#include "worker/block/suspects.h"
#include "worker/job/executor.h"
#include "worker/job/job.h"
#include "worker/lease/grant.h"
#include "worker/run/served_queue.h"

namespace allot::worker {

// Decides whether the next task of a lease may start, under which conditions, and with which
// others in one call. For LeaseRun, in the worker's main thread.
//
// A task of an ordered or limited partition runs alone in it (S16); a suspect is alone in the whole
// worker (S7). A handler that takes several tasks in a call gets the tasks of its type from the
// rest of the block (A13).
class Starter {
 public:
  Starter(const BlockParts& parts, const ServedQueue& queue, Block& block);

  enum class Answer {
    kStart,
    kNextGrant,  // the waiting tasks are fetched again with the next grant
    kLeave       // no further task starts in this lease
  };
  [[nodiscard]] Answer may_start();
  // Whether no further task may start in this lease.
  [[nodiscard]] bool is_over();
  [[nodiscard]] bool time_is_up() const { return boot_ns() >= until_ns_; }

  [[nodiscard]] bool one_at_a_time() const;
  [[nodiscard]] Executor::Need need_of(const queue::Task& task) const;
  // Waits until no suspect with an earlier attempt runs in another worker of the instance. False:
  // this worker has to leave.
  [[nodiscard]] bool wait_for_turn(const queue::Task& task);

  // The next task of the block, and those that go into one call with it.
  [[nodiscard]] Job next_job(Suspects& suspects, const Executor::Need& need);
  // Undoes the accounting for one of its tasks that did not start after all, or whose call failed.
  void not_started(const Job& job, bool called = false);

 private:
  [[nodiscard]] bool must_leave() const;
  [[nodiscard]] bool may_extend();
  [[nodiscard]] std::size_t batch_limit(const queue::Task& task, const Suspects& suspects) const;

  const BlockParts& parts_;
  const ServedQueue& queue_;
  Block& block_;
  Nanos until_ns_;               // no further task starts then
  bool had_other_work_ = false;  // when the lease should have ended
  bool patient_ = true;          // false: the wait for a careful turn failed
};

}  // namespace allot::worker
