// SPDX-License-Identifier: Apache-2.0
#include "queue/model/server_change.h"

#include "db/writer.h"
#include "sql/queries.h"

namespace allot::queue {

std::chrono::sys_time<std::chrono::microseconds> database_now(db::Connection& db) {
  std::chrono::sys_time<std::chrono::microseconds> now;
  db.run({db::Statement(sql::k_database_clock)}).front().one().read(0, now);
  return now;
}

bool note_server(db::Connection& db) {
  // An INSERT that finds its row reports 1 if the row stays unchanged.
  return db.run({db::note_server_statement(db)}).front().affected() == 2;
}

void mark_superseded(db::Connection& db, std::uint64_t term) {
  db.run({db::Statement(sql::k_mark_superseded).set("term", term)});
}

void clear_superseded(db::Connection& db) {
  db.run({db::Statement(sql::k_clear_superseded)});
}

std::uint64_t promote(db::Connection& db, std::uint64_t known_term) {
  db.run({db::promote_statement(known_term), db::Statement(sql::k_clear_superseded)});
  return last_server_change(db).value_or(ServerChange()).number;
}

std::optional<ServerChange> last_server_change(db::Connection& db) {
  return db.read_first<ServerChange>(
      db::Statement(sql::k_show_server), [](const db::Row& row, ServerChange& change) {
        row.read(0, change.server, change.number, change.since, change.streak, change.ago);
      });
}

}  // namespace allot::queue
