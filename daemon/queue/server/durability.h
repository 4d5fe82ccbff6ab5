// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "db/connection.h"

// Whether a commit that the server acknowledged outlives the server: [database] required =
// "replicated".
namespace allot::queue {

// Settings and statuses of a server by their names in lower case.
using ServerFacts = std::map<std::string, std::string>;

// Why an acknowledged commit may be lost with the server, each with what to set; empty: it is on a
// second server, too. Pure.
[[nodiscard]] std::vector<std::string> replication_gaps(const ServerFacts& facts);

// Throws DbError (kUnfitServer), which names all gaps.
void require_replicated(db::Connection& db);

}  // namespace allot::queue
