// SPDX-License-Identifier: Apache-2.0
#include "db/migrate.h"

#include <mysqld_error.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>

#include "base/checksum.h"
#include "base/version.h"
#include "db/procedures.h"

namespace allot::db {
namespace {

constexpr std::string_view kVersionTable =
    "CREATE TABLE IF NOT EXISTS allot_schema (version INT UNSIGNED NOT NULL PRIMARY KEY,"
    " name VARCHAR(63) NOT NULL, checksum BIGINT UNSIGNED NOT NULL,"
    " applied_at DATETIME(6) NOT NULL, applied_by VARCHAR(31) NOT NULL) ENGINE=InnoDB";

constexpr const char* kPreRelease =
    "this database was made by a pre-release Allot, and its schema cannot be upgraded: let that "
    "Allot "
    "finish its tasks, then use an empty database";

std::string versions(unsigned have, unsigned want) {
  return "the schema is at version " + std::to_string(have) + ", this Allot (" + kVersion +
         ") is written for " + std::to_string(want);
}

// Like schema_version(), but requires that the database's migrations are equal to this build's, as
// far as it knows them. Before the first release there was no checksum, or another first migration
// (decision 0007).
unsigned known_version(Connection& connection, Migrations known) {
  try {
    auto results =
        connection.execute("SELECT version, name, checksum FROM allot_schema ORDER BY version");
    unsigned version = 0;
    while (const auto row = results.front().next()) {
      version = static_cast<unsigned>(row->u64(0));
      if (version == 0 || version > known.size()) continue;
      const sql::SqlText& ours = *known[version - 1];
      if (row->u64(2) == Checksum(ours.text).value()) continue;
      if (version == 1) throw Error(kPreRelease, kExitConfig);
      throw Error("migration " + row->string(1) + " of this database is not the " +
                      std::string(ours.name) + " of this Allot (" + kVersion +
                      "): use the Allot that made it, or an empty database",
                  kExitConfig);
    }
    return version;
  } catch (const DbError& error) {
    if (error.number() == ER_NO_SUCH_TABLE) return 0;
    if (error.number() == ER_BAD_FIELD_ERROR) throw Error(kPreRelease, kExitConfig);
    throw;
  }
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
    if (results.front().one().u64(0) != 1) {
      throw Error("another migration is running on this server; try again when it is done");
    }
  }
  MigrationLock(const MigrationLock&) = delete;
  MigrationLock& operator=(const MigrationLock&) = delete;
  ~MigrationLock() {
    try {
      connection_.execute("SELECT RELEASE_LOCK('allot.migrate')");
    } catch (const DbError&) {
      // The lock ended with the connection.
    }
  }

 private:
  Connection& connection_;
};

// End of the comment or quoted text that starts at `at`; `at` itself if there is none.
std::size_t end_of_literal(std::string_view text, std::size_t at) {
  const auto behind = [&](std::string_view end) {
    const std::size_t found = text.find(end, at + 1);
    return found == std::string_view::npos ? text.size() : found + end.size();
  };
  if (text.substr(at, 3) == "-- ") return behind("\n");
  if (text.substr(at, 2) == "/*") return behind("*/");
  if (text[at] == '\'' || text[at] == '"' || text[at] == '`') return behind(text.substr(at, 1));
  return at;
}

// The statements of a migration, each with the comments before it.
std::vector<std::string_view> statements_of(std::string_view text) {
  std::vector<std::string_view> statements;
  std::size_t begin = 0;
  bool empty = true;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t next = end_of_literal(text, at);
    const bool comment = next > at && (text[at] == '-' || text[at] == '/');
    if (text[at] == ';') {
      if (!empty) statements.push_back(text.substr(begin, at - begin));
      begin = at + 1;
      empty = true;
    } else if (!comment && text[at] > ' ') {
      empty = false;
    }
    at = std::max(next, at + 1);
  }
  if (!empty) statements.push_back(text.substr(begin));
  return statements;
}

// The statement's object exists already: an interrupted migrator had come this far.
bool was_done(const DbError& error) {
  return error.number() == ER_TABLE_EXISTS_ERROR || error.number() == ER_DUP_FIELDNAME ||
         error.number() == ER_DUP_KEYNAME;
}

// Sends one statement at a time, so that each may have been done before. (MySQL has no IF NOT
// EXISTS for columns and indexes.)
void apply(Connection& connection, const sql::SqlText& migration) {
  for (const std::string_view statement : statements_of(migration.text)) {
    try {
      connection.execute(statement);
    } catch (const DbError& error) {
      if (!was_done(error)) throw;
    }
  }
}

}  // namespace

void refuse_unable(Connection& connection) {
  auto results = connection.execute(
      "SHOW SESSION VARIABLES WHERE Variable_name IN ('log_bin', 'binlog_format',"
      " 'innodb_page_size')");
  std::map<std::string, std::string> is;
  while (const auto row = results.front().next()) is.emplace(row->text(0), row->text(1));
  const std::string where = "database at " + connection.where() + ": ";
  if (is["log_bin"] == "ON" && is["binlog_format"] == "STATEMENT") {
    throw DbError(kUnfitServer,
                  where +
                      "binlog_format is STATEMENT, which cannot log writes of READ COMMITTED "
                      "transactions (error 1665); SET GLOBAL binlog_format = 'ROW', and set it in "
                      "the server's configuration",
                  Phase::kConnect);
  }
  if (is["innodb_page_size"] == "4096") {
    throw DbError(kUnfitServer,
                  where +
                      "innodb_page_size is 4096, but Allot's tables need at least 8192; it is "
                      "fixed when the data folder of a server is created, so use another server",
                  Phase::kConnect);
  }
}

unsigned schema_version(Connection& connection) {
  try {
    auto results = connection.execute("SELECT MAX(version) FROM allot_schema");
    return static_cast<unsigned>(results.front().one().u64(0));
  } catch (const DbError& error) {
    if (error.number() == ER_NO_SUCH_TABLE) return 0;
    throw;
  }
}

void require_schema(Connection& connection, Newer newer, Migrations known) {
  const unsigned have = known_version(connection, known);
  const auto want = static_cast<unsigned>(known.size());
  if (newer == Newer::kRefused) refuse_newer(have, want);
  if (have >= want) return;
  refuse_unable(connection);  // 'allot migrate' would fail with the same error
  if (have == 0) {
    throw Error("the database has no Allot schema yet: run 'allot migrate'", kExitConfig);
  }
  throw Error(versions(have, want) + ": run 'allot migrate'", kExitConfig);
}

std::vector<std::string> migrate(Connection& connection, Migrations all) {
  refuse_unable(connection);
  const MigrationLock lock(connection);
  connection.execute(kVersionTable);
  const unsigned have = known_version(connection, all);
  refuse_newer(have, static_cast<unsigned>(all.size()));
  std::vector<std::string> applied;
  for (unsigned version = have + 1; version <= all.size(); ++version) {
    const sql::SqlText& migration = *all[version - 1];
    apply(connection, migration);
    connection.execute("INSERT INTO allot_schema VALUES (" + std::to_string(version) + ", " +
                       Statement::quoted(migration.name) + ", " +
                       std::to_string(Checksum(migration.text).value()) + ", UTC_TIMESTAMP(6), " +
                       Statement::quoted(kVersion) + ")");
    applied.emplace_back(migration.name);
  }
  make_procedures(connection);
  return applied;
}

}  // namespace allot::db
