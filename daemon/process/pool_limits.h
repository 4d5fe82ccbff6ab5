// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "config/settings.h"

namespace allot::process {

// Applies a pool's limits (D9): niceness for this thread and for all threads and processes that it
// starts afterwards, and memory for this process and each that it starts afterwards. The worker
// limits itself before it loads a plugin; handlers cannot undo it. Throws Error(kExitConfig) if the
// system refuses.
void limit_to(const config::Pool& pool);

}  // namespace allot::process
