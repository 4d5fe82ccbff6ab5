// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "db/connection.h"

// Servers and proxies that cannot keep the promises of Allot and can be recognised by name. Covers
// what a rehearsal cannot show, which is one session for a moment.
namespace allot::queue {

// Throws DbError(kUnfitServer): the server of `db` cannot be used for `reason`.
[[noreturn]] void refuse_server(const db::Connection& db, const std::string& reason);

// Refuses, with the reason and what to do: a proxy that splits the statements of a connection, a
// group with several writers, and tables of a storage engine other than InnoDB. Needs the schema.
void refuse_unfit(db::Connection& db);

}  // namespace allot::queue
