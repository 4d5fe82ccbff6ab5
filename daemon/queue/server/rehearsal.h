// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "db/connection.h"

// What a server must do for the protocol, in one place. A worker tries it on the server itself when
// it first connects to it, and so do the check before a start, `allot migrate` and `allot doctor`:
// by data, because a version says neither what an optimizer does nor what a proxy lets through.
namespace allot::queue {

// Rehearses the life of a lease in a queue that is nobody's, with the statements that the stores
// send, in transactions that are rolled back:
//   - the session is the one that was set up, and as it was set up;
//   - an UPDATE reports the rows that it matched;
//   - a fenced burial changes the rows of its task and nothing else;
//   - its fence locks the row of the lease;
//   - a lease skips a row that is locked, and takes one that is not.
// Needs the schema and the rights of a worker, and a second connection to the same server for a
// moment. What stays are free rows of q_lock_table, made at the first time. Throws DbError: of
// class kRefused, with the reason, when the server does not do one of these; of another class when
// it could not be tried.
void rehearse(db::Connection& db, const db::ConnectOptions& options);

// A warning when no test of this version ran on servers of this kind and version (@@version); else
// nothing.
[[nodiscard]] std::optional<std::string> untested(const std::string& version);

}  // namespace allot::queue
