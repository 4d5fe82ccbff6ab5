// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "db/connection.h"

// Rights of the account of a connection.
namespace allot::queue {

// Throws DbError(kRefused) that names the first right that a worker's account needs and this one
// lacks.
void require_rights(db::Connection& db);

// Number of connections that the server allows to all clients, or to this account if that is less.
[[nodiscard]] std::uint64_t connections_allowed(db::Connection& db);

}  // namespace allot::queue
