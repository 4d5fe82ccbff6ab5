// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "config/settings.h"
#include "db/connection.h"
#include "queue/schedules/schedule.h"
#include "queue/schedules/schedule_store.h"

// Functions shared by the commands that create schedules.
namespace allot::cli {

// Refuses a spec whose queue exists neither in the database nor in the configuration, or whose
// tasks that queue would refuse. Writes nothing.
void check_queue(db::Connection& db, const config::Settings& settings,
                 const queue::ScheduleSpec& spec);

// Creates or changes the schedule, and creates a queue that exists only in the configuration. The
// spec has been checked.
queue::Put put_spec(db::Connection& db, const config::Settings& settings,
                    const queue::ScheduleSpec& spec);

// The schedule of that name. Throws Error(kExitBadInput) if it does not exist.
[[nodiscard]] queue::Schedule named_schedule(db::Connection& db, const std::string& name);
[[noreturn]] void unknown_schedule(db::Connection& db, const std::string& name);

}  // namespace allot::cli
