// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "db/connection.h"
#include "queue/model/catalog.h"
#include "queue/model/rate.h"

namespace allot::queue {

// Reads what an operator gave. Throws Error(kExitBadInput) that names the field.
[[nodiscard]] Rate read_rate(std::string_view per_second, std::string_view burst);

// From now on the tasks of the queue start at this rate, over all hosts; a worker that has a
// partition goes on until its block_seconds are over. False: it had that rate already, and nothing
// changed.
bool set_rate(db::Connection& db, const QueueInfo& queue, const Rate& rate);
// False: the queue had none.
bool remove_rate(db::Connection& db, const QueueInfo& queue);

// What these two send, for somebody who writes more in the same transaction.
[[nodiscard]] db::Statement set_rate_statement(const QueueInfo& queue, const Rate& rate);
[[nodiscard]] db::Statement remove_rate_statement(const QueueInfo& queue);

}  // namespace allot::queue
