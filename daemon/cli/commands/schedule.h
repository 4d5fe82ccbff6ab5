// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace allot::cli {

struct Commands;

// Path of a schedule: "/schedules/nightly". Throws Error(kExitBadInput) for an invalid
// name.
[[nodiscard]] std::string schedule_path(const std::string& name);

// Called by add_schedule().
void add_schedule_add(CLI::App& schedule, const Commands& commands);
void add_schedule_apply(CLI::App& schedule, const Commands& commands);
void add_schedule_import(CLI::App& schedule, const Commands& commands);

}  // namespace allot::cli
