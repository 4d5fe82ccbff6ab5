// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "config/settings.h"
#include "db/connection.h"
#include "worker/oneshot/check.h"
#include "worker/oneshot/unit_reach.h"

// Words of a configuration that are well formed and mean nothing here. They stop no start, because
// what they name may be there tomorrow.
namespace allot::worker {

// Hooks whose queue does not exist, or places its tasks by a key. The queues of the configuration
// are there by now.
void find_lost_hooks(const config::Settings& settings, db::Connection& db, Findings& findings);

// Programs of [plugins.exec.types] that this account cannot run.
void find_lost_programs(const config::Settings& settings, Findings& findings);

// Programs, their scripts and folders that the service cannot use.
void find_unreachable_programs(const config::Settings& settings, const UnitReach& reach,
                               Findings& findings);

}  // namespace allot::worker
