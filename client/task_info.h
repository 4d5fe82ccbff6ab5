// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "allot/client.h"
#include "db/connection.h"
#include "queue/model/task.h"

namespace allot::client {

// Reads "2026-01-02T03:04:05.678901Z" as the database writes it; anything else gives the epoch.
[[nodiscard]] Moment moment_of(std::string_view text);

// nullopt: the task has finished, or was never submitted.
[[nodiscard]] std::optional<TaskInfo> task_info(db::Connection& db, const queue::TaskId& id);

// nullopt: the key is free. Throws Error(kExitBadInput) for an unknown queue.
[[nodiscard]] std::optional<KeyOwner> key_owner(db::Connection& db, std::string_view queue,
                                                std::string_view unique_key);

}  // namespace allot::client
