// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "ipc/board.h"
#include "steward/chore.h"
#include "worker/process/slot_writer.h"

namespace allot::steward {

// Runs the chores, in this order, until this process is asked to leave. In between it sleeps until
// the next chore is due, this bell rings, or a signal comes.
void attend(const std::vector<Chore*>& chores, worker::SlotWriter& slot, ipc::PoolBoard& bell);

}  // namespace allot::steward
