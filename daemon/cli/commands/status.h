// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/sources/context.h"

namespace allot::cli {

// allot status shows queues from the database and workers from the slot table of this host's
// daemon.
int status(const Context& context, bool json);

}  // namespace allot::cli
