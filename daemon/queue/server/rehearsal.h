// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "db/connection.h"

// Behaviour of a server that the protocol depends on. A worker tries it when it first connects to a
// server, and so do the check before a start, `allot migrate` and `allot doctor`: the trial uses
// data, because a version shows neither what an optimizer does nor what a proxy passes.
namespace allot::queue {

// Runs through a lease in a queue that does not exist, with the statements that the stores send, in
// transactions that are rolled back:
//   - the session is the one that was set up, with its settings;
//   - an UPDATE reports the rows that it matched;
//   - a fenced burial changes the rows of its task and nothing else;
//   - its fence locks the row of the lease;
//   - a lease skips a locked row and takes an unlocked one.
// Before that, refuses servers that can be recognised by name: a proxy that splits the statements
// of a connection, a group with several writers, and tables of a storage engine other than InnoDB.
// Needs the schema, the rights of a worker and, for a moment, a second connection to the same
// server. Free rows of q_lock_table, made the first time, remain. Throws DbError: of class
// kRefused, with the reason, if the server fails one of these; of another class if the trial itself
// failed.
void rehearse(db::Connection& db, const db::ConnectOptions& options);

// A warning if no test of this version ran on servers of this kind and version (@@version);
// otherwise nullopt.
[[nodiscard]] std::optional<std::string> untested(const std::string& version);

}  // namespace allot::queue
