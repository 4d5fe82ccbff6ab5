// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "config/settings.h"
#include "worker/process/session.h"

namespace allot::steward {

// Makes or changes the schedules of the configuration whose section is another one than was applied
// last, by any host. What operators changed since then stays, nothing is removed, and a section
// with a lower revision than that changes nothing. One that cannot be applied is an error of the
// log, and leaves the others alone.
// `calendar` is a command as of schedule::ComputingProcess.
void apply_schedules(worker::Session& session, const config::Settings& settings,
                     const std::vector<std::string>& calendar);

}  // namespace allot::steward
