// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "support/scripted_worker/folder.h"

namespace allot::scripted {

// allot-worker --run: sends heartbeats, follows the test's script, exits on TERM, HUP (after its
// task) and on the supervisor's end. Returns the exit code.
int run_worker(const Folder& folder, std::uint32_t index);

}  // namespace allot::scripted
