// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "config/settings.h"
#include "ipc/board.h"
#include "ipc/slot.h"

namespace allot::worker {

// The pool of the process in this slot: a configured one, or the steward's; for a worker that was
// started by hand, the first one. Throws Error(kExitConfig) if the configuration no longer has it.
[[nodiscard]] const config::Pool& pool_of(const config::Settings& settings, const ipc::Slot& slot);

// Runs one worker from start to exit code: plugins, connection, block loop. Throws Error if it
// cannot start; waits for a database that is away.
int run_worker(const config::Settings& settings, ipc::Slot& slot, ipc::Board& board);

}  // namespace allot::worker
