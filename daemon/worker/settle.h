// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "config/settings.h"
#include "ipc/board.h"
#include "ipc/slot.h"

namespace allot::worker {

// Heals the death of the worker whose slot this is (S8, S9): ends its connections, acknowledges its
// finished tasks, charges the task that it was running, detached or not, gives its lease back and
// puts the partition first in line on the board (may be null). `wait_status` is the result of
// waitpid().
//
// May be repeated: every step takes effect only once. Throws db::DbError.
void settle(const config::Settings& settings, const ipc::Slot& slot, int wait_status,
            ipc::Board* board);

}  // namespace allot::worker
