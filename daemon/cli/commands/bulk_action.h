// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cli/remote/operations.h"

// Functions shared by the commands that act on many dead tasks (decision 0015).
namespace allot::cli {

// "5 dead tasks", "at least 5 dead tasks".
[[nodiscard]] std::string dead_tasks_text(std::uint64_t count, bool more = false);

// Waits for the end of the action and shows its progress. On the database itself, processes the
// action in this process while no steward leads that duty. Returns the final state of the action.
// Throws Error when it is interrupted or loses the connection; the action continues, and the
// message says so.
nlohmann::json follow_bulk(const Operations& allot, std::uint64_t action_id);

// Throws Error, with the progress so far, unless the action is done.
void require_done(const nlohmann::json& action);

}  // namespace allot::cli
