// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "process/session.h"
#include "steward/chore.h"
#include "steward/served.h"

namespace allot::steward {

// All removals of rows that are past their time (C10), a chore for each: it deletes bounded batches
// until none is left. `served` outlives the result.
std::vector<Chore> retention(process::Session& session, const std::vector<Served>& served);

}  // namespace allot::steward
