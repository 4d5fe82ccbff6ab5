// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace CLI {
class App;
}

namespace allot::cli {

struct Commands;

// Called by add_schedule().
void add_schedule_add(CLI::App& schedule, const Commands& commands);
void add_schedule_apply(CLI::App& schedule, const Commands& commands);
void add_schedule_import(CLI::App& schedule, const Commands& commands);

}  // namespace allot::cli
