// SPDX-License-Identifier: Apache-2.0
// Rule: S32.
#include "queue/server/unfit.h"

#include <algorithm>
#include <string_view>

#include "db/migrate.h"
#include "db/proxy.h"
#include "sql/queries.h"

namespace allot::queue {
namespace {

struct Engine {
  std::string_view name;
  std::string_view reason;
  std::string_view advice;
};

constexpr Engine kEngines[] = {
    {"SPIDER", "the servers behind it may wait for a locked row (NOWAIT)",
     "connect to the server that stores the rows"},
    {"ndbcluster", "it does not lock ranges, and a statement may see part of another transaction",
     "use a server that keeps the tables in InnoDB"},
};

// Any other engine has no transactions or was never tested.
Engine engine(std::string_view name) {
  const auto same = [&](const Engine& one) { return one.name == name; };
  const auto* found = std::find_if(std::begin(kEngines), std::end(kEngines), same);
  if (found != std::end(kEngines)) return *found;
  return {name, "Allot needs the transactions and row locks of InnoDB",
          "convert the table to InnoDB"};
}

void refuse_proxy(db::Connection& db) {
  // MaxScale may keep each connection in one session (readconnroute): the rehearsal checks it.
  if (db::proxy_name(db) != "ProxySQL") return;
  refuse_server(db,
                "the connection goes through ProxySQL, whose rules and pool may send each "
                "statement to another session or server, so that settings and locks of earlier "
                "statements are lost; use the server's own address, or a proxy that keeps a "
                "connection in one session (HAProxy, MaxScale with readconnroute)");
}

// Certification compares writes of transactions. A fence only reads and locks the row of its lease,
// and another member neither sees this nor waits for it.
void refuse_several_writers(const db::Connection& db, db::StatementResult& group) {
  bool in_group = false;
  bool several = false;
  while (const auto row = group.next()) {
    if (row->text(0) == "group_replication_group_name") in_group = !row->text(1).empty();
    if (row->text(0) == "group_replication_single_primary_mode") several = row->text(1) == "OFF";
  }
  if (!in_group || !several) return;
  refuse_server(db,
                "its Group Replication has several writers (group_replication_single_primary_mode "
                "= OFF), which do not see each other's row locks; switch the group to one "
                "writer (group_replication_switch_to_single_primary_mode)");
}

void refuse_engine(const db::Connection& db, db::StatementResult& foreign) {
  const auto row = foreign.next();
  if (!row) return;
  const std::string table(row->text(0));
  const Engine other = engine(row->text(1));
  refuse_server(db, "table `" + table + "` has the storage engine " + std::string(other.name) +
                        ": " + std::string(other.reason) + "; " + std::string(other.advice));
}

}  // namespace

void refuse_server(const db::Connection& db, const std::string& reason) {
  throw db::DbError(db::kUnfitServer,
                    "database at " + db.where() + " cannot be used: " + reason +
                        "; docs/database.md, \"What a server must do\"",
                    db::Phase::kConnect);
}

void refuse_unfit(db::Connection& db) {
  refuse_proxy(db);
  db::refuse_unable(db);
  auto results = db.run({db::Statement(sql::k_show_group), db::Statement(sql::k_foreign_engine)});
  refuse_several_writers(db, results.at(0));
  refuse_engine(db, results.at(1));
}

}  // namespace allot::queue
