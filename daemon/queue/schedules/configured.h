// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "config/settings.h"
#include "config/tree.h"
#include "queue/schedules/schedule.h"
#include "queue/schedules/schedule_store.h"

// Sections [schedules.NAME] as schedules.
namespace allot::queue {

[[nodiscard]] ScheduleSpec spec_of(const config::Schedule& section);
[[nodiscard]] AppliedText text_of(const config::Schedule& section);

// Errors in a schedule's own settings, and settings that a queue of the configuration refuses, with
// the line. Expressions are checked when the file is read, and zones by config::check_zones().
void check_specs(const config::Settings& settings, config::Problems& problems);

}  // namespace allot::queue
