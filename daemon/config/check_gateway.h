// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "config/settings.h"
#include "config/tree.h"

namespace allot::config {

// Checks and completes [gateway] and its sections, if they exist: what would let in somebody whom
// nobody meant is refused. complete() calls it when [database] is complete.
void check_gateway(Settings& settings, Problems& problems);

}  // namespace allot::config
