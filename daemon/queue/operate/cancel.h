// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "db/connection.h"
#include "queue/model/task.h"
#include "queue/model/task_facts.h"

namespace allot::queue {

// Result of cancelling a task.
struct Cancelled {
  std::optional<TaskView> task;  // as found; nullopt: finished, or never submitted
  bool done = false;             // it was waiting, and is dead or finished now
  bool requested = false;        // it runs: its worker, `holder` if known, will see the request
  bool may_run = false;          // but a worker, `holder` if known, had its partition at that time
  bool conflict = false;  // requested, but an earlier request for the other kind of end prevails
  std::string holder;     // "host/pid"
};

// The task ends as if it had succeeded: no dead letter, no hook, and its unique key stays reserved
// for its time.
struct AsDone {
  bool keep_history = false;  // its queue keeps a history
  std::string host;           // for the history of a waiting task: the host that cancels
  std::uint32_t pid = 0;
};

// AsDone with this process as the canceller.
[[nodiscard]] AsDone as_done_here(bool keep_history);

// Makes the waiting task at `run_key` a dead one, with this reason as its error. False: the task is
// not there any more. A worker that leases the partition may still run it. May be repeated after a
// lost reply.
bool cancel(db::Connection& db, const TaskId& id, std::uint64_t run_key, std::string_view reason);

// Removes a waiting task, also if it moves at the same time; requests the end of a running one,
// detached or cancel-watched. A dead one stays as it is. Throws Error if the task moves too often.
Cancelled cancel_task(db::Connection& db, const TaskId& id, std::string_view reason,
                      const std::optional<AsDone>& as_done = std::nullopt);

}  // namespace allot::queue
