// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "db/connection.h"
#include "queue/submit/submit.h"

// The tasks that have unique keys.
namespace allot::queue {

// Finds whether each kLive owner waits or runs, after submit() has made `submissions`. Costs one
// statement per queue where an unfinished task has a key, otherwise none. Never fails, because the
// submission has succeeded; kLive remains if the account may not read the tasks.
void find_owners(db::Connection& db, std::span<const Submission> submissions,
                 std::span<Submitted> made);

// Limits the reservation of these keys of finished tasks to their own duration from now (S58). For
// readers of keys; a claim does this itself.
void bound_unique(db::Connection& db, std::uint32_t queue_id, std::span<const std::string> keys);

}  // namespace allot::queue
