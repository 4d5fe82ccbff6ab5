// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "db/connection.h"
#include "queue/inspect.h"
#include "queue/task.h"

namespace allot::queue {

// What came of cancelling a task.
struct Cancelled {
  std::optional<TaskView> task;  // as it was found; nullopt: finished, or never submitted
  bool done = false;             // it was waiting, and is a dead one now
  bool asked = false;            // it runs: its worker, `holder` if known, will see the request
  bool may_run = false;          // but somebody, `holder` if known, had its partition meanwhile
  std::string holder;            // "host/pid"
};

// Takes a waiting task out, wherever it moves meanwhile; of one that runs, detached or attended,
// asks for the end. One that is dead is left alone. Throws Error when it moves too fast.
Cancelled cancel_task(db::Connection& db, const TaskId& id, std::string_view reason);

}  // namespace allot::queue
