// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "cli/remote/session.h"
#include "config/settings.h"
#include "db/connection.h"
#include "queue/operate/bulk_action.h"

// What the commands share that act on many dead tasks (decision 0015).
namespace allot::cli {

// "5 dead tasks", "at least 5 dead tasks".
[[nodiscard]] std::string dead_tasks_text(std::uint64_t count, bool more = false);

// Waits until the action is at its end, shows how far it is, and works it off itself as long as no
// steward leads that duty. Returns the action as it is then. Throws Error when it is interrupted or
// loses the database: the action goes on, and the message says so.
queue::BulkAction follow_bulk(const config::Settings& settings, db::Connection& db,
                              std::uint64_t action_id);

// The same over a gateway, where stewards alone work it off.
queue::BulkAction follow_bulk(const remote::Session& gateway, std::uint64_t action_id);

// Throws Error unless it is done, which says how far it came.
void require_done(const queue::BulkAction& action);

}  // namespace allot::cli
