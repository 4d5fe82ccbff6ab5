// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "db/connection.h"

namespace allot::queue {

// Cuts the time for which these keys of finished tasks stay taken to their own, from now on (S58).
// For those who read keys; a claim does this itself.
void bound_unique(db::Connection& db, std::uint32_t queue_id, std::span<const std::string> keys);

}  // namespace allot::queue
