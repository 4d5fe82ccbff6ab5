// SPDX-License-Identifier: Apache-2.0
#include "db/migrate.h"

#include <mysqld_error.h>

#include <cstdint>
#include <iterator>

#include "base/version.h"
#include "sql/migrations.h"
#include "sql/procedures.h"

namespace allot::db {
namespace {

constexpr std::string_view kVersionTable =
    "CREATE TABLE IF NOT EXISTS allot_schema (version INT UNSIGNED NOT NULL PRIMARY KEY,"
    " name VARCHAR(63) NOT NULL, applied_at DATETIME(6) NOT NULL, applied_by VARCHAR(31) NOT NULL)"
    " ENGINE=InnoDB";

std::string versions(unsigned have, unsigned want) {
  return "the schema is at version " + std::to_string(have) + ", this Allot (" + kVersion +
         ") is written for " + std::to_string(want);
}

void refuse_newer(unsigned have, unsigned want) {
  if (have > want) {
    throw Error(versions(have, want) + ": install the newer Allot on this host too", kExitConfig);
  }
}

class MigrationLock {
 public:
  explicit MigrationLock(Connection& connection) : connection_(connection) {
    auto results = connection_.execute("SELECT GET_LOCK('allot.migrate', 8)");
    if (results.front().next()->u64(0) != 1) {
      throw Error("another migration is running on this server; try again when it is done");
    }
  }
  MigrationLock(const MigrationLock&) = delete;
  MigrationLock& operator=(const MigrationLock&) = delete;
  ~MigrationLock() {
    try {
      connection_.execute("SELECT RELEASE_LOCK('allot.migrate')");
    } catch (const DbError&) {
      // The lock has gone with the connection.
    }
  }

 private:
  Connection& connection_;
};

// Distinguishes the procedures of this build from any others: FNV-1a of their texts.
std::string mark_of_procedures() {
  std::uint64_t hash = 14695981039346656037U;
  for (const sql::SqlText* procedure : sql::procedures::kAll) {
    for (const char c : procedure->text)
      hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  }
  return "Allot: procedures " + std::to_string(hash);
}

// Whether all procedures exist with this account as their definer. The check saves work: to make
// one takes a dozen fsyncs.
bool are_procedures_there(Connection& connection) {
  auto results = connection.execute(
      "SELECT COUNT(*), COALESCE(SUM(routine_comment = " + Statement::quoted(mark_of_procedures()) +
      "), 0) FROM information_schema.routines WHERE routine_schema = DATABASE()"
      " AND routine_name LIKE 'allot\\_%' AND definer = CURRENT_USER()");
  const auto row = results.front().next();
  return row->u64(0) == std::size(sql::procedures::kAll) && row->u64(1) == 1;
}

// Procedures have no versions: the database gets those of this build. The mark comes last, so that
// an interrupted run is repeated.
void make_procedures(Connection& connection) {
  if (are_procedures_there(connection)) return;
  std::string_view name = "allot_submit";
  try {
    for (const sql::SqlText* procedure : sql::procedures::kAll) {
      name = procedure->name;
      connection.execute(procedure->text);
    }
    connection.execute("ALTER PROCEDURE allot_submit COMMENT " +
                       Statement::quoted(mark_of_procedures()));
  } catch (const DbError& error) {
    std::string text = "procedure " + std::string(name) + ": " + error.what();
    if (error.error_class() == ErrorClass::kRefused) {
      text += "; who runs 'allot migrate' needs CREATE ROUTINE, ALTER ROUTINE and EXECUTE on it";
    }
    throw DbError(error.number(), text);
  }
}

}  // namespace

unsigned wanted_schema_version() {
  return static_cast<unsigned>(std::size(sql::migrations::kAll));
}

unsigned schema_version(Connection& connection) {
  try {
    auto results = connection.execute("SELECT MAX(version) FROM allot_schema");
    return static_cast<unsigned>(results.front().next()->u64(0));
  } catch (const DbError& error) {
    if (error.number() == ER_NO_SUCH_TABLE) return 0;
    throw;
  }
}

void require_schema(Connection& connection) {
  const unsigned have = schema_version(connection);
  const unsigned want = wanted_schema_version();
  refuse_newer(have, want);
  if (have == want) return;
  if (have == 0) {
    throw Error("the database has no Allot schema yet: run 'allot migrate'", kExitConfig);
  }
  throw Error(versions(have, want) + ": run 'allot migrate'", kExitConfig);
}

std::vector<std::string> migrate(Connection& connection) {
  const MigrationLock lock(connection);
  connection.execute(kVersionTable);
  const unsigned have = schema_version(connection);
  refuse_newer(have, wanted_schema_version());
  std::vector<std::string> applied;
  for (unsigned version = have + 1; version <= wanted_schema_version(); ++version) {
    const sql::SqlText& migration = *sql::migrations::kAll[version - 1];
    connection.execute(migration.text);
    connection.execute("INSERT INTO allot_schema VALUES (" + std::to_string(version) + ", " +
                       Statement::quoted(migration.name) + ", UTC_TIMESTAMP(6), " +
                       Statement::quoted(kVersion) + ")");
    applied.emplace_back(migration.name);
  }
  make_procedures(connection);
  return applied;
}

}  // namespace allot::db
