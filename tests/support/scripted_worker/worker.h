// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "support/scripted_worker/folder.h"

namespace allot::scripted {

// allot-worker --run: beats, does what the test tells it, leaves on TERM, HUP (after its task) and
// on the supervisor's end. The exit code.
int run_worker(const Folder& folder, std::uint32_t index);

}  // namespace allot::scripted
