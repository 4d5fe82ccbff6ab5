// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "config/settings.h"
#include "db/connection.h"
#include "worker/oneshot/check.h"
#include "worker/oneshot/unit_reach.h"

// Names in a configuration that are well formed and refer to nothing here. They do not stop a
// start, because the target may exist tomorrow. Called by the checks.
namespace allot::worker {

// Hooks whose queue does not exist, or places its tasks by a key. Call it after the queues of the
// configuration were created.
void find_lost_hooks(const config::Settings& settings, db::Connection& db, Findings& findings);

// Programs of exec and pipe that this account cannot run; with `reach` also programs, their scripts
// and folders that the service cannot use.
void find_unusable_programs(const config::Settings& settings, const std::optional<UnitReach>& reach,
                            Findings& findings);

}  // namespace allot::worker
