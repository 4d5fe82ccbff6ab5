// SPDX-License-Identifier: Apache-2.0
#include "queue/server/variables.h"

#include "db/error.h"
#include "sql/queries.h"

namespace allot::queue {

bool optimizer_switch_changed(db::Connection& db) {
  try {
    return db.run({db::Statement(sql::k_changed_switch)}).front().one().u64(0) != 0;
  } catch (const db::DbError& error) {
    if (error.error_class() != db::ErrorClass::kRefused) throw;
    return false;
  }
}

std::map<std::string, std::string> server_variables(db::Connection& db) {
  auto results = db.run({db::Statement(sql::k_server_variables)});
  std::map<std::string, std::string> variables;
  while (const auto row = results.front().next()) {
    variables[row->string(0)] = row->text(1);
  }
  return variables;
}

std::chrono::sys_time<std::chrono::microseconds> database_clock(db::Connection& db) {
  auto results = db.run({db::Statement(sql::k_database_clock)});
  return std::chrono::sys_time<std::chrono::microseconds>(
      std::chrono::microseconds(results.front().one().u64(0)));
}

}  // namespace allot::queue
