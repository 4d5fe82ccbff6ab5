// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "config/settings.h"
#include "db/connection.h"
#include "queue/schedules/schedule.h"
#include "queue/schedules/schedule_store.h"

// What the commands that make schedules share.
namespace allot::cli {

// Refuses a spec whose queue does not exist, nor in the configuration, or whose tasks that queue
// would not take. Writes nothing.
void check_queue(db::Connection& db, const config::Settings& settings,
                 const queue::ScheduleSpec& spec);

// Makes the schedule, or changes it, and a queue that only the configuration knows. The spec has
// been checked.
queue::Put put_spec(db::Connection& db, const config::Settings& settings,
                    const queue::ScheduleSpec& spec);

// The schedule of that name. Throws Error(kExitBadInput): there is none.
[[nodiscard]] queue::Schedule named_schedule(db::Connection& db, const std::string& name);
[[noreturn]] void unknown_schedule(db::Connection& db, const std::string& name);

}  // namespace allot::cli
