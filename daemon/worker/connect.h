// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "db/connection.h"

namespace allot::worker {

// Connects, and logs which servers of the list were passed over and why. Throws DbError.
[[nodiscard]] db::Connection connect(const db::ConnectOptions& options);

// How long a worker's statements wait for somebody else's lock: a third of a lease, so that the
// lease in hand does not run out meanwhile. From 1 s, the least that a server knows, to 5 s.
[[nodiscard]] std::chrono::seconds lock_wait(std::chrono::microseconds ttl);

}  // namespace allot::worker
