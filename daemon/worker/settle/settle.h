// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "config/settings.h"
#include "ipc/board.h"
#include "ipc/slot.h"

namespace allot::worker {

// How a worker ended.
struct WorkerEnd {
  int wait_status = 0;          // the result of waitpid()
  std::string out_of_memory{};  // description of a kill because memory ran out; else empty
};

// Heals the death of the worker whose slot this is (S8, S9): ends its connections, acknowledges its
// finished tasks, charges the task that it was running, detached or not, gives its lease back and
// puts the partition first in line on the board (may be null).
//
// May be repeated: every step takes effect only once. Throws db::DbError.
void settle(const config::Settings& settings, const ipc::Slot& slot, const WorkerEnd& end,
            ipc::Board* board);

}  // namespace allot::worker
