// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "db/connection.h"
#include "queue/server/variables.h"

// Checks whether an acknowledged commit survives the loss of the server: [database] required =
// "replicated".
namespace allot::queue {

// Reasons why an acknowledged commit may be lost with the server, each with what to set; empty: it
// is also on a second server. Pure.
[[nodiscard]] std::vector<std::string> replication_gaps(const ServerFacts& facts);

// Throws DbError (kUnfitServer) that names all gaps.
void require_replicated(db::Connection& db);

}  // namespace allot::queue
