// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "db/connection.h"

// What the account of a connection is allowed to do.
namespace allot::queue {

// Throws DbError(kRefused) that names the first right which a worker's account needs and this one
// lacks.
void require_rights(db::Connection& db);

// How many connections the server allows to all its clients, or to this account where that is less.
[[nodiscard]] std::uint64_t connections_allowed(db::Connection& db);

}  // namespace allot::queue
