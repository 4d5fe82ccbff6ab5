// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace CLI {
class App;
}

namespace allot::cli {

struct Commands;

// Adds the commands of `allot lock` that have a file of their own. Called by add_lock().
void add_lock_run(CLI::App& lock, const Commands& commands);

}  // namespace allot::cli
