// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "config/settings.h"

namespace allot::worker {

// What a pool allows its workers (D9): niceness for this thread and for all threads and processes
// that it starts afterwards, and memory for this process and each that it starts afterwards. The
// worker limits itself, before it loads a plugin; no handler can take that back. Throws
// Error(kExitConfig) where the system does not let it.
void limit_to(const config::Pool& pool);

}  // namespace allot::worker
