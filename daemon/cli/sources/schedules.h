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

}  // namespace allot::cli
