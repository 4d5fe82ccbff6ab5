// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "db/connection.h"
#include "queue/model/catalog.h"
#include "queue/model/rate.h"

namespace allot::queue {

// Reads an operator's input. Throws Error(kExitBadInput) that names the field.
[[nodiscard]] Rate read_rate(std::string_view per_second, std::string_view burst);

// From now on tasks of the queue start at this rate, over all hosts; a worker that has a partition
// continues until its block_seconds are over. False: the rate was the same, and nothing changed.
bool set_rate(db::Connection& db, const QueueInfo& queue, const Rate& rate);
// False: the queue had no rate.
bool remove_rate(db::Connection& db, const QueueInfo& queue);

// The statements of these two, for callers that write more in the same transaction.
[[nodiscard]] db::Statement set_rate_statement(const QueueInfo& queue, const Rate& rate);
[[nodiscard]] db::Statement remove_rate_statement(const QueueInfo& queue);

}  // namespace allot::queue
