// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "db/connection.h"

namespace allot::db {

// The schema version that this build was written for: the number of files in sql/migrations/.
unsigned wanted_schema_version();

// The version in the database; 0 before the first migration.
unsigned schema_version(Connection& connection);

// Throws Error(kExitConfig) that says what to do when the schema is missing, older or newer.
void require_schema(Connection& connection);

// Applies the missing migrations, one after the other, under a server-wide name lock, and returns
// their names. Refuses a schema that is newer than this build's. Makes the stored procedures anew
// unless they are those of this build: also in a database that was restored without them, or where
// another account had made them.
std::vector<std::string> migrate(Connection& connection);

}  // namespace allot::db
