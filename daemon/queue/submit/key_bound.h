// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "db/connection.h"

namespace allot::queue {

// Limits the reservation of these keys of finished tasks to their own duration from now (S58). For
// readers of keys; a claim does this itself.
void bound_unique(db::Connection& db, std::uint32_t queue_id, std::span<const std::string> keys);

}  // namespace allot::queue
