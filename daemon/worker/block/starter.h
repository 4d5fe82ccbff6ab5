// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/unique_fd.h"
#include "queue/model/task.h"
#include "worker/block/block.h"
#include "worker/job/executor.h"
#include "worker/job/job.h"
#include "worker/lease/grant.h"
#include "worker/run/served_queue.h"

namespace allot::worker {

// Runs careful tasks (S7) with an earlier attempt one at a time in an instance. A task that
// repeatedly takes its host down then takes no other task with it, so each is charged only for
// itself. The turn is a lock on a file, which the kernel releases when its holder dies.
class CarefulTurn {
 public:
  // Opens the file at `path`, and creates it if missing. With an empty path there are no other
  // workers to wait for. Throws Error.
  explicit CarefulTurn(const std::string& path);

  // Waits for the turn, but not forever, because another worker's careful task may run for hours.
  // False: the task has to run next to others. Ends early when this worker is asked to leave.
  bool take(std::chrono::milliseconds patience);
  void end();  // without effect if the turn was not taken

 private:
  UniqueFd file_;
};

// Decides whether the next task of a lease may start, under which conditions, and with which
// others in one call. For LeaseRun, in the worker's main thread.
//
// A task of an ordered or limited partition runs alone in it (S16); a suspect, which may have
// brought a worker down, is alone in the whole worker, with its attempt written before (S7). A
// handler that takes several tasks in a call gets the tasks of its type from the rest of the block
// (A13); after a failed call each of its tasks runs alone.
class Starter {
 public:
  Starter(const BlockParts& parts, std::shared_ptr<const ServedQueue> queue, Block& block);

  // S7: marks the tasks that the lease names, because they ran when a predecessor died. The mark is
  // on the task, so that careful mode lasts exactly as long as these tasks need, however many
  // leases that takes. False: the lease is gone.
  [[nodiscard]] bool mark_named();

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
  [[nodiscard]] Job next_job(const Executor::Need& need);
  // Undoes the accounting for one of its tasks that did not start after all, or whose call failed:
  // then it is the next of the waiting tasks.
  void not_started(const Job& job, bool called = false);
  // The next of the waiting tasks were in a call that failed.
  [[nodiscard]] bool any_called() const { return called_next_ > 0; }
  // At the end of a block, writes that these tasks were called: the next lease does not know about
  // the call. If the grant has no start for any of them, it would repeat the call as long as that
  // fails, so they become suspects (S61).
  void mark_called();

 private:
  [[nodiscard]] bool must_leave() const;
  [[nodiscard]] bool may_extend();
  [[nodiscard]] std::size_t batch_limit(const queue::Task& task) const;

  const BlockParts& parts_;
  const std::shared_ptr<const ServedQueue> queue_;
  Block& block_;
  Nanos until_ns_;               // no further task starts then
  bool had_other_work_ = false;  // when the lease should have ended
  bool patient_ = true;          // false: the wait for a careful turn failed
  std::size_t called_next_ = 0;  // number of waiting tasks that were in a failed call
};

}  // namespace allot::worker
