// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "config/settings.h"
#include "process/session.h"

namespace allot::steward {

// Creates or changes the schedules whose configuration section differs from the one applied last by
// any host. Later changes by operators stay, nothing is removed, and a section with a lower
// revision changes nothing. A section that cannot be applied is an error in the log, and the others
// continue. `calendar` is a command as of schedule::ComputingProcess. Called at the start of the
// steward.
void apply_schedules(process::Session& session, const config::Settings& settings,
                     const std::vector<std::string>& calendar);

}  // namespace allot::steward
