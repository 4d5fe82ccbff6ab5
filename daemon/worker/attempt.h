// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "worker/cancel_watch.h"
#include "worker/running_mark.h"
#include "worker/task_limits.h"
#include "worker/task_run.h"
#include "worker/task_writes.h"

// State that the phases of a task's run pass on: for task_run.cc, and for gather.cc, where several
// tasks go through them together.
namespace allot::worker {

// Everything that belongs to one attempt.
struct TaskRun::Attempt {
  const queue::Lease& lease;  // in which it began
  queue::Claim claim;         // says where the task is now
  const ServedQueue& queue;
  queue::Task& task;
  const plugin_host::LoadedHandler* handler;
  std::string id;
  std::uint32_t number;                     // from 1
  std::uint32_t most;                       // attempts that it may have
  bool announced;                           // written before it ran (S7)
  std::span<const queue::Finished> before;  // tasks of its block that are not acknowledged yet
  bool beside = false;                      // others of its block run beside it
  std::size_t entry = 0;                    // in the slot and with the keeper
  queue::Usage usage{};                     // of the handler, if the result will be kept
};

// An attempt in its handler, as the slot, the keeper and the handler see it, until its verdict is
// noted.
struct TaskRun::AtWork {
  AtWork(TaskRun& run, Attempt& of);
  AtWork(const AtWork&) = delete;
  AtWork& operator=(const AtWork&) = delete;
  ~AtWork() = default;

  Attempt& attempt;
  Nanos began_ns = 0;
  TaskLimits limits{};
  CancelWatch cancel;
  std::optional<RunningMark> mark;  // once it has begun
  TaskWrites writes;
  // Once the handler has returned:
  Nanos returned_ns = 0;
  bool valid = false;  // its lease was valid
  Place place = Place::kPartition;
};

void log_ran(const TaskRun::Attempt& attempt, const plugin_host::CallResult& result, Nanos ran);
// What became of the task.
void log_end(const TaskRun::Attempt& attempt, const Facts& facts, const Decision& decision);
// S5: the task may have run beside another run of it. The checker demands a fault that explains it.
void log_overrun(const TaskRun::Attempt& attempt);

}  // namespace allot::worker
