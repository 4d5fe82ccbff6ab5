// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "process/session.h"
#include "steward/chore.h"
#include "steward/leadership.h"
#include "steward/served.h"

namespace allot::steward {

// Adds missing lease rows (S59), and resets release times that a clock in the future wrote (S60):
// every half minute, on the host that leads the schedules.
Chore lease_rows(process::Session& session);

// Ends the resize of an ordered or limited queue of this host once the last task of its former
// layout has run (S17): about once a second. The layout is named in the statement, so that a second
// host finds nothing to do (S46).
std::vector<Chore> layouts(process::Session& session, const Leadership& leadership,
                           const std::vector<Served>& served);

}  // namespace allot::steward
