// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "config/settings.h"
#include "config/tree.h"

namespace allot::config {

// Fills in computed values (default queue and pool, queues of pools, the account of the embedded
// database, the password from its file) and checks rules that involve several keys.
void complete(Settings& settings, Problems& problems);

}  // namespace allot::config
