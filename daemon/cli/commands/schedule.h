// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace allot::cli {

struct Commands;

// "/schedules/nightly", of a gateway. Throws Error(kExitBadInput) for what can be no name of one.
[[nodiscard]] std::string schedule_path(const std::string& name);

// Called by add_schedule().
void add_schedule_add(CLI::App& schedule, const Commands& commands);
void add_schedule_apply(CLI::App& schedule, const Commands& commands);
void add_schedule_import(CLI::App& schedule, const Commands& commands);

}  // namespace allot::cli
