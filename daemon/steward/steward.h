// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "config/settings.h"
#include "ipc/board.h"
#include "ipc/slot.h"

namespace allot::steward {

// Runs the steward from start to exit code: the process of a host that does all periodic work
// besides the tasks, however busy the workers are. It opens no plugin and takes no lease. Throws
// Error if it cannot start; waits for a database that is away.
int run(const config::Settings& settings, ipc::Slot& slot, ipc::Board& board);

}  // namespace allot::steward
