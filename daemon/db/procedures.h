// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "db/connection.h"

// The stored procedures (sql/procedures). They have no versions: a mark identifies the build that
// made them.
namespace allot::db {

// Reason why migrate() would make them again with this account as their definer; empty if it would
// not.
std::string why_make_procedures(Connection& connection);

// Makes the procedures of this build if they are missing: making one takes a dozen fsyncs.
void make_procedures(Connection& connection);

struct ProcedureTrouble {
  std::string text;
  std::string fix;  // empty if the text contains it
};

// Why callers cannot use them, or this account cannot see whether they can: it needs EXECUTE.
std::optional<ProcedureTrouble> trouble_with_procedures(Connection& connection);

}  // namespace allot::db
