// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "db/connection.h"
#include "queue/model/catalog.h"

// Limit of tasks of a queue that run at a time in the whole cluster (S51). For the command line and
// the gateway.
namespace allot::queue {

inline constexpr std::uint32_t kMaxCap = 65'536;

// Applies to each lease from now on; earlier leases end first. 0: no limit. Throws
// Error(kExitBadInput) if the queue is not spread.
void set_cap(db::Connection& db, const QueueInfo& queue, std::uint32_t cap);

// Statement of set_cap(), for callers that write more in the same transaction.
[[nodiscard]] db::Statement set_cap_statement(const QueueInfo& queue, std::uint32_t cap);

}  // namespace allot::queue
