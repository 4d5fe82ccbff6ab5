// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <exception>
#include <limits>
#include <span>
#include <vector>

#include "base/clock.h"
#include "queue/model/lease.h"
#include "queue/model/task.h"
#include "queue/verbs/block.h"
#include "worker/run/served_queue.h"

namespace allot::worker {

// The tasks that one call of a handler gets: one, or several of one type where the handler takes
// them (A13). The block loop makes it, and an executor runs it; it may outlive its block, because a
// detached task does.
struct Job {
  queue::Lease lease;
  const ServedQueue* queue = nullptr;
  std::vector<queue::Task> tasks{};  // at least one
  Nanos fetched_ns = 0;              // when they were read from the database
  // No handler is called then or later, because the rate of the queue was charged for before (S43).
  Nanos start_by_ns = std::numeric_limits<Nanos>::max();
  bool careful = false;  // the attempt is written before the handler starts (S7)
  // Nothing else of its partition runs meanwhile. Where the task is detached, its lease ends with
  // it, and `finished`, what its block has not acknowledged yet, is acknowledged with that.
  bool alone = false;
  std::span<const queue::Finished> finished{};
};

// What became of one task of a job.
struct TaskEnd {
  enum class Result {
    kNothing,      // there was no room for it in the call, or it came too late: it is as before
    kByItself,     // the call failed for it: it has to run by itself
    kFinished,     // has to be acknowledged
    kUnknownType,  // no handler here: has to be deferred (S65)
    kWritten,      // a retry, snooze or dead letter is in the database
    kHeld,         // it stays the first of its partition, which waits for `hold` (S16)
    kDetached,     // it ended outside of its partition, which others may have
    kLeaseGone     // the lease is gone or in doubt: drop the rest of the block
  };
  Result result = Result::kNothing;
  std::chrono::microseconds hold{0};
};

[[nodiscard]] inline bool has_ended(const TaskEnd& end) {
  return end.result != TaskEnd::Result::kNothing && end.result != TaskEnd::Result::kByItself;
}

struct JobEnd {
  Job job;                       // the tasks without their payloads, if they have ended
  std::vector<TaskEnd> tasks{};  // of the same index
  std::exception_ptr error{};    // why there is no end: GaveUp
};

}  // namespace allot::worker
