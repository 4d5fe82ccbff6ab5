// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "db/connection.h"
#include "queue/look/inspect.h"
#include "queue/model/task.h"

namespace allot::queue {

// The result of cancelling a task.
struct Cancelled {
  std::optional<TaskView> task;  // as it was found; nullopt: finished, or never submitted
  bool done = false;             // it was waiting, and is dead or finished now
  bool asked = false;            // it runs: its worker, `holder` if known, will see the request
  bool may_run = false;          // but a worker, `holder` if known, had its partition meanwhile
  bool otherwise = false;        // asked, but an earlier request for the other kind of end stands
  std::string holder;            // "host/pid"
};

// The task is to end as if it had succeeded: no dead letter, no hook, and its unique key is kept
// for its time.
struct AsDone {
  bool keep_history = false;  // its queue keeps one
  std::string host;           // for the history of a task that waits: who cancels
  std::uint32_t pid = 0;
};

// With this process as the one that cancels.
[[nodiscard]] AsDone as_done_here(bool keep_history);

// Makes the waiting task at `run_key` a dead one, with this reason as its error. False: the task is
// not there any more. A worker that leases the partition may still run it. May be repeated after a
// lost reply.
bool cancel(db::Connection& db, const TaskId& id, std::uint64_t run_key, std::string_view reason);

// Takes a waiting task out, wherever it moves meanwhile; asks for the end of a running one,
// detached or cancel-watched. Leaves a dead one alone. Throws Error when the task moves too fast.
Cancelled cancel_task(db::Connection& db, const TaskId& id, std::string_view reason,
                      const std::optional<AsDone>& as_done = std::nullopt);

}  // namespace allot::queue
