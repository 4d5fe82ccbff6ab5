// SPDX-License-Identifier: Apache-2.0
#include "queue/server/variables.h"

#include <algorithm>
#include <cctype>

#include "db/error.h"
#include "sql/queries.h"

namespace allot::queue {

bool optimizer_switch_changed(db::Connection& db) {
  try {
    return db.read_number(db::Statement(sql::k_changed_switch)) != 0;
  } catch (const db::DbError& error) {
    if (error.error_class() != db::ErrorClass::kRefused) throw;
    return false;
  }
}

ServerFacts server_variables(db::Connection& db, bool with_replicas) {
  ServerFacts facts;
  const auto add = [&](const db::Row& row) {
    std::string name = row.string(0);
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return std::tolower(c); });
    facts[name] = row.text(1);
  };
  db.each_row(db::Statement(sql::k_server_variables), add);
  if (with_replicas) db.each_row(db::Statement(sql::k_replication_status), add);
  return facts;
}

std::string value_in(const ServerFacts& facts, const std::string& name) {
  const auto found = facts.find(name);
  return found == facts.end() ? std::string() : found->second;
}

void require_rights(db::Connection& db) {
  db.run({db::Statement(sql::k_require_rights)});
}

std::uint64_t connections_allowed(db::Connection& db) {
  std::uint64_t all = 0;
  std::uint64_t mine = 0;
  db.run({db::Statement(sql::k_connections_allowed)}).front().one().read(0, all, mine);
  return mine == 0 ? all : std::min(all, mine);
}

}  // namespace allot::queue
