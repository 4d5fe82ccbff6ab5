// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "db/connection.h"
#include "queue/schedules/schedule.h"

// Rows of the schedule tables. Not for other folders.
namespace allot::queue {

// A DATETIME(6) for a statement, or NULL.
std::string datetime(std::optional<Moment> moment);
// The public id of the task that four columns name; nullopt if they are NULL.
std::optional<TaskId> task_in(const db::Row& row, std::size_t first);
// A row of find_schedule.sql, list_schedules.sql or fetch_schedules.sql.
void read_schedule(const db::Row& row, Schedule& schedule);

// The key of a task for record_run.sql and advance_tick.sql.
std::string key_of(const PlannedTask& task, const Submission& submission);

}  // namespace allot::queue
