// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <exception>
#include <limits>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "queue/model/lease.h"
#include "queue/model/task.h"
#include "worker/run/served_queue.h"

namespace allot::worker {

// The tasks of one handler call: one, or several of one type if the handler takes them (A13). The
// block loop makes it, and an executor runs it; a job with a detached task may outlive its block.
struct Job {
  queue::Lease lease;
  std::shared_ptr<const ServedQueue> queue{};
  std::vector<queue::Task> tasks{};  // at least one
  Nanos fetched_ns = 0;              // when they were read from the database
  // No handler is called at or after this time, because the queue's rate was charged for the time
  // before (S43).
  Nanos start_by_ns = std::numeric_limits<Nanos>::max();
  bool careful = false;  // the attempt is written before the handler starts (S7)
  // No other job of its partition runs at the same time. If the task is detached, its lease ends
  // with it, which also acknowledges the finished tasks.
  bool sole = false;
};

// Result of one task of a job.
struct TaskEnd {
  enum class Result {
    kNothing,         // no room for it in the call, or too late: it is unchanged
    kByItself,        // the call failed for it: it has to run alone
    kFinished,        // has to be acknowledged
    kUnknownType,     // no handler here: has to be deferred (S65)
    kWritten,         // a retry, snooze or dead letter is in the database
    kPartitionWaits,  // it stays first in its partition, which waits (S16)
    kDetached,        // it ended outside its partition, which others may have
    kLeaseGone        // the lease is lost or uncertain: drop the rest of the block
  };
  Result result = Result::kNothing;
  std::chrono::microseconds partition_wait{0};
};

struct JobEnd {
  Job job;                       // its ended tasks have lost their payloads
  std::vector<TaskEnd> tasks{};  // with the same index
  std::exception_ptr error{};    // the reason of a job without an end: GaveUp
};

}  // namespace allot::worker
