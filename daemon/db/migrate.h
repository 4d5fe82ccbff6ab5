// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "db/connection.h"
#include "sql/migrations.h"

namespace allot::db {

// Ordered by number, from 1.
using Migrations = std::span<const sql::SqlText* const>;
inline constexpr Migrations kMigrations{sql::migrations::kAll};

// The version in the database; 0 before the first migration.
unsigned schema_version(Connection& connection);

// Throws DbError(kUnfitServer) if the server's settings do not allow the schema or Allot's writes.
void refuse_unable(Connection& connection);

// Whether a newer schema than this build's is accepted.
enum class Newer { kRefused, kTaken };

// Throws Error(kExitConfig) with instructions if the schema is missing, older or newer, or was made
// by other migrations than `known`: for example by a pre-release Allot.
void require_schema(Connection& connection, Newer newer = Newer::kRefused,
                    Migrations known = kMigrations);

// Applies missing migrations one after the other, under a server-wide name lock. Returns the names
// applied. Refuses what require_schema refuses, except an older or missing schema. Makes the stored
// procedures again unless they are equal to this build's: also in a database that was restored
// without them, or whose procedures another account made.
std::vector<std::string> migrate(Connection& connection, Migrations all = kMigrations);

}  // namespace allot::db
