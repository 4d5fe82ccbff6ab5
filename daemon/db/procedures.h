// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "db/connection.h"

// The stored procedures (sql/procedures), which have no versions: a mark says which build made
// them.
namespace allot::db {

// Why migrate() would make them again with this account as their definer; empty when it would not.
std::string why_make_procedures(Connection& connection);

// Makes those of this build, unless they are there: to make one takes a dozen fsyncs.
void make_procedures(Connection& connection);

struct ProcedureTrouble {
  std::string text;
  std::string fix;  // empty where the text says it
};

// What keeps callers from them, or this account from seeing that: it needs EXECUTE.
std::optional<ProcedureTrouble> trouble_with_procedures(Connection& connection);

}  // namespace allot::db
