// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "config/settings.h"
#include "ipc/board.h"
#include "ipc/slot.h"

namespace allot::worker {

// Runs one worker from start to exit code: plugins, connection, block loop. Throws Error when it
// cannot start; waits for a database that is away.
int run_worker(const config::Settings& settings, ipc::Slot& slot, ipc::Board& board);

}  // namespace allot::worker
