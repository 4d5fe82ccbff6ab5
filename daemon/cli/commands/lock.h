// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace CLI {
class App;
}

namespace allot::cli {

struct Commands;

// The words of `allot lock` that have a file of their own; add_lock() calls this.
void add_lock_run(CLI::App& lock, const Commands& commands);

}  // namespace allot::cli
