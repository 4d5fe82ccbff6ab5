// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "db/connection.h"
#include "queue/inspect.h"
#include "queue/task.h"

namespace allot::queue {

// What came of taking out a task.
struct Cancelled {
  std::optional<TaskView> task;  // as it was found; nullopt: finished, or never submitted
  bool done = false;             // it was waiting, and is a dead one now
  bool may_run = false;          // but somebody, `holder` if known, had its partition meanwhile
  std::string holder;            // "host/pid"
};

// Takes a waiting task out, wherever it moves meanwhile. One that is dead or detached is left
// alone. Throws Error when it moves too fast.
Cancelled cancel_waiting(db::Connection& db, const TaskId& id, std::string_view reason);

}  // namespace allot::queue
