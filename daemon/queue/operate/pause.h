// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "db/connection.h"
#include "queue/model/catalog.h"

namespace allot::queue {

// From now on no worker of any host leases a partition of this queue; a worker that has one
// continues until its block_seconds are over. For a paused queue only the reason changes, not the
// time.
void pause(db::Connection& db, const QueueInfo& queue, std::string_view reason);
// False: the queue was not paused.
bool resume(db::Connection& db, const QueueInfo& queue);

}  // namespace allot::queue
