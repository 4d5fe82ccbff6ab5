// SPDX-License-Identifier: Apache-2.0
#include "db/procedures.h"

#include <mysqld_error.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "base/checksum.h"
#include "base/version.h"
#include "db/mutation.h"
#include "sql/procedures.h"

namespace allot::db {
namespace {

constexpr std::size_t kCount = std::size(sql::procedures::kAll);
constexpr std::size_t kNamed = 3;

// Distinguishes the procedures of this build from all others.
std::string mark_of_procedures() {
  Checksum sum;
  for (const sql::SqlText* procedure : sql::procedures::kAll) sum.add(procedure->text);
  return "Allot: procedures " + std::to_string(sum.value());
}

// The procedures, as far as this account sees them.
struct Procedures {
  std::vector<std::string> names;
  bool are_of_this_build = false;
  std::string foreign_definer;  // of a procedure that another account made

  // "2 of 46 are missing: allot_key, allot_put"; empty if none is missing.
  [[nodiscard]] std::string missing() const {
    std::size_t count = 0;
    std::string list;
    for (const sql::SqlText* procedure : sql::procedures::kAll) {
      if (std::find(names.begin(), names.end(), procedure->name) != names.end()) continue;
      if (++count <= kNamed) list += (count == 1 ? ": " : ", ") + std::string(procedure->name);
    }
    if (count == 0) return {};
    return std::to_string(count) + " of " + std::to_string(kCount) + " are missing" + list +
           (count > kNamed ? ", ..." : "");
  }
};

Procedures see_procedures(Connection& connection) {
  auto results = connection.execute(
      "SELECT routine_name, routine_comment, definer, definer = CURRENT_USER()"
      " FROM information_schema.routines WHERE routine_schema = DATABASE()"
      " AND routine_name LIKE 'allot\\_%'");
  const std::string mark = mark_of_procedures();
  Procedures seen;
  while (const auto row = results.front().next()) {
    seen.names.emplace_back(row->text(0));
    if (row->text(1) == mark) seen.are_of_this_build = true;
    if (row->u64(3) == 0) seen.foreign_definer = row->text(2);
  }
  return seen;
}

std::string of_another_build() {
  return std::string("they belong to another version of Allot (") + kVersion + ")";
}

// Only a call shows whether the definer exists and has its rights. The id is not the id of a task.
constexpr std::string_view kTry = "CALL allot_task('0000000000000000', @allot_state)";

}  // namespace

std::string why_make_procedures(Connection& connection) {
  const Procedures seen = see_procedures(connection);
  if (seen.names.empty()) return "none existed";
  if (std::string missing = seen.missing(); !missing.empty()) return missing;
  if (!seen.are_of_this_build) return of_another_build();
  if (!seen.foreign_definer.empty()) return "their definer is " + seen.foreign_definer;
  return {};
}

// The mark is written last, so that an interrupted run is repeated.
void make_procedures(Connection& connection) {
  if (why_make_procedures(connection).empty()) return;
  std::string_view name = "allot_submit";
  try {
    for (const sql::SqlText* procedure : sql::procedures::kAll) {
      name = procedure->name;
      connection.execute(mutated(name, procedure->text));
    }
    connection.execute("ALTER PROCEDURE allot_submit COMMENT " +
                       Statement::quoted(mark_of_procedures()));
  } catch (const DbError& error) {
    std::string text = "procedure " + std::string(name) + ": " + error.what();
    if (error.error_class() == ErrorClass::kRefused) {
      text +=
          "; the account that runs 'allot migrate' needs CREATE ROUTINE, ALTER ROUTINE and EXECUTE "
          "on it";
    }
    throw DbError(error, text);
  }
}

std::optional<ProcedureTrouble> trouble_with_procedures(Connection& connection) {
  constexpr const char* kMigrate = "run 'allot migrate'";
  const Procedures seen = see_procedures(connection);
  std::string refusal;
  try {
    connection.execute(kTry);
  } catch (const DbError& error) {
    if (error.error_class() == ErrorClass::kGone) throw;
    if (error.number() == ER_PROCACCESS_DENIED_ERROR && seen.names.empty()) {
      return ProcedureTrouble{std::string("this account has no right to see them: ") + error.what(),
                              ""};
    }
    if (error.number() == ER_NO_SUCH_USER) {
      return ProcedureTrouble{
          "their definer " + seen.foreign_definer + " does not exist, so every CALL fails",
          "run 'allot migrate', whose account becomes their definer"};
    }
    refusal = error.what();
  }
  if (seen.names.empty()) return ProcedureTrouble{"none exist, so every CALL fails", kMigrate};
  if (std::string missing = seen.missing(); !missing.empty()) {
    return ProcedureTrouble{std::move(missing), kMigrate};
  }
  if (!seen.are_of_this_build) return ProcedureTrouble{of_another_build(), kMigrate};
  if (!refusal.empty()) return ProcedureTrouble{"a CALL fails: " + refusal, kMigrate};
  return std::nullopt;
}

}  // namespace allot::db
