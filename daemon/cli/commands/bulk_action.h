// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "cli/remote/session.h"
#include "config/settings.h"
#include "db/connection.h"
#include "queue/operate/bulk_action.h"

// Functions shared by the commands that act on many dead tasks (decision 0015).
namespace allot::cli {

// "5 dead tasks", "at least 5 dead tasks".
[[nodiscard]] std::string dead_tasks_text(std::uint64_t count, bool more = false);

// Waits for the end of the action and shows its progress. Processes the action in this process
// while no steward leads that duty. Returns the final state of the action. Throws Error when it is
// interrupted or loses the database; the action continues, and the message says so.
queue::BulkAction follow_bulk(const config::Settings& settings, db::Connection& db,
                              std::uint64_t action_id);

// The same through a gateway, where only stewards process the action.
queue::BulkAction follow_bulk(const remote::Session& gateway, std::uint64_t action_id);

// Throws Error, with the progress so far, unless the action is done.
void require_done(const queue::BulkAction& action);

}  // namespace allot::cli
