// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "db/connection.h"
#include "sql/migrations.h"

namespace allot::db {

// In the order of their numbers, from 1.
using Migrations = std::span<const sql::SqlText* const>;
inline constexpr Migrations kMigrations{sql::migrations::kAll};

// The schema version that this build was written for.
constexpr unsigned wanted_schema_version() {
  return static_cast<unsigned>(kMigrations.size());
}

// The version in the database; 0 before the first migration.
unsigned schema_version(Connection& connection);

// Throws DbError(kUnfitServer) when the server's settings keep it from having the schema, or from
// taking Allot's writes.
void refuse_unable(Connection& connection);

// Whether a schema that is newer than this build will do.
enum class Newer { kRefused, kTaken };

// Throws Error(kExitConfig) that says what to do when the schema is missing, older or newer, or was
// made by other migrations than `known`: by those of a pre-release Allot, say.
void require_schema(Connection& connection, Newer newer = Newer::kRefused,
                    Migrations known = kMigrations);

// Applies what is missing, one migration after the other, under a server-wide name lock. Returns
// the names applied. Refuses what require_schema refuses, but a schema that is older or missing.
// The stored procedures are made anew unless they are those of this build: also in a database that
// was restored without them, or where another account had made them.
std::vector<std::string> migrate(Connection& connection, Migrations all = kMigrations);

}  // namespace allot::db
