// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "ipc/board.h"
#include "steward/chore.h"
#include "worker/process/slot_writer.h"

namespace allot::steward {

// Looks after the chores, in this order, until this process is asked to leave. In between it sleeps
// until the next of them is due, somebody rings this bell, or a signal comes.
void attend(const std::vector<Chore*>& chores, worker::SlotWriter& slot, ipc::PoolBoard& bell);

}  // namespace allot::steward
