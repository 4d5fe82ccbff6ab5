// SPDX-License-Identifier: Apache-2.0
#include "queue/model/server_change.h"

#include "db/writer.h"
#include "sql/queries.h"

namespace allot::queue {

bool note_server(db::Connection& db) {
  // An INSERT that finds its row reports 1 if the row stays unchanged.
  return db.run({db::note_server_statement(db)}).front().affected() == 2;
}

void mark_superseded(db::Connection& db, std::uint64_t term) {
  db::Statement mark(sql::k_mark_superseded);
  db.run({mark.set("term", term)});
}

void clear_superseded(db::Connection& db) {
  db.run({db::Statement(sql::k_clear_superseded)});
}

std::uint64_t promote(db::Connection& db, std::uint64_t known_term) {
  db.run({db::promote_statement(known_term), db::Statement(sql::k_clear_superseded)});
  return last_server_change(db).value_or(ServerChange()).number;
}

std::optional<ServerChange> last_server_change(db::Connection& db) {
  auto results = db.run({db::Statement(sql::k_show_server)});
  const auto row = results.front().next();
  if (!row) return std::nullopt;
  ServerChange change;
  change.server = row->text(0);
  change.number = row->u64(1);
  change.since = row->text(2);
  change.streak = row->u32(3);
  change.ago = std::chrono::seconds(row->u64(4));
  return change;
}

}  // namespace allot::queue
