// SPDX-License-Identifier: Apache-2.0
// A primary and a replica that has everything that was committed (semi-synchronous), by GTIDs, in
// the words of the server that the tests run on.
#pragma once

#include <string>
#include <vector>

#include "db/connection.h"
#include "support/database.h"

namespace allot::e2e {

// The settings of servers that can be one.
std::vector<std::string> primary_settings();
std::vector<std::string> replica_settings();

// Makes the server of `at_replica`, which takes no more writes, follow `primary`. When it returns,
// a commit of the primary waits until the replica has it. Throws std::runtime_error when they don't
// meet.
void replicate(support::Database& primary, db::Connection& at_replica);

// All that came over is applied.
bool all_is_applied(db::Connection& at_replica);

// Makes a primary of it.
void promote(db::Connection& at_replica);

// SQL that makes the account `name` as it should be: with all rights but that of writing to a
// read-only server.
std::string account(const std::string& name);

}  // namespace allot::e2e
