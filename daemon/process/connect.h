// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "db/connection.h"

namespace allot::process {

// Connects, and logs which servers of the list were skipped and why. Throws DbError.
[[nodiscard]] db::Connection connect(const db::ConnectOptions& options);

// How long a worker's statements wait for a lock of another session: a third of a lease, so that
// the lease in hand does not expire during the wait. From 1 s, the minimum of a server, to 5 s.
[[nodiscard]] std::chrono::seconds lock_wait(std::chrono::microseconds ttl);

}  // namespace allot::process
