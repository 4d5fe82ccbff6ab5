// SPDX-License-Identifier: Apache-2.0
// Rule: S32.
#include "queue/server/rehearsal.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <string_view>
#include <vector>

#include "db/migrate.h"
#include "db/proxy.h"
#include "queue/model/random.h"
#include "queue/model/statements.h"
#include "sql/queries.h"

namespace allot::queue {
namespace {

[[noreturn]] void refuse_server(const db::Connection& db, const std::string& reason) {
  throw db::DbError(db::kUnfitServer,
                    "database at " + db.where() + " cannot be used: " + reason +
                        "; docs/database.md, \"What a server must do\"",
                    db::Phase::kConnect);
}

// Servers and proxies that can be recognised by name: what a rehearsal cannot show, which is one
// session for a moment.
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

void refuse_unfit(db::Connection& db) {
  refuse_proxy(db);
  db::refuse_unable(db);
  auto results = db.run({db::Statement(sql::k_show_group), db::Statement(sql::k_foreign_engine)});
  refuse_several_writers(db, results.at(0));
  refuse_engine(db, results.at(1));
}

// The largest number: not the number of any queue, and its leases sort after all others.
constexpr std::uint32_t kUnusedQueue = UINT32_MAX;
// So that workers that start together rarely use the same partition.
constexpr std::uint32_t kPlaces = 16;
constexpr int kRehearsals = 8;
constexpr unsigned kSyntaxError = 1064;
constexpr unsigned kLockWait = 1205;
constexpr unsigned kDeadlock = 1213;
constexpr int kMostWaits = 3;

// Rows of a rehearsal (S32). Its task has its own key, because inserts of the same key that are
// rolled back deadlock.
struct Stage {
  Partition partition{kUnusedQueue, random_number<std::uint32_t>() % kPlaces};
  std::uint64_t first_key = random_number<std::uint32_t>();
  std::uint64_t run_key = first_key + 1;
};

db::Statement on(const Stage& stage, const sql::SqlText& sql) {
  db::Statement statement(sql);
  set_partition(statement, stage.partition);
  return statement.set("first_key", stage.first_key).set("run_key", stage.run_key);
}

// bury.sql with a fence that any lease passes: so that the lease needs no holder, even if this
// process is killed halfway.
const sql::SqlText& bury_without_holder() {
  static const std::string kText = [] {
    constexpr std::string_view kHeld = "epoch = :epoch AND lock_by = :holder AND state <> 'FREE'";
    std::string text(sql::k_bury.text);
    for (std::size_t at = text.find(kHeld); at != std::string::npos; at = text.find(kHeld, at)) {
      text.replace(at, kHeld.size(), "epoch >= 0");
    }
    return text;
  }();
  // Has its own name, because it lacks the fence that a build with mutations searches for.
  static const sql::SqlText kBury{"bury, rehearsed", kText};
  return kBury;
}

// `row` of rehearsed.sql, once after writes and once alone.
void require_same_session(const db::Connection& db, const db::Row& row) {
  if (row.u64(4) == db.id()) return;
  refuse_server(
      db, "reads and writes of one connection reach different sessions (a proxy splits them)");
}

// S64: tried with data, not only by names of settings.
void read_values(db::Connection& db) {
  std::uint64_t rows = 0;
  db.each_row(db::Statement(sql::k_rehearse_session), [&](const db::Row& row) {
    if (row.u64(1) != 0 || row.text(2) != "text" || row.text(3) != "0.3333") {
      refuse_server(db, "it returns values that differ from those sent ('" + row.string(2) +
                            "' for 'text', " + row.string(3) + " for 1 / 3)");
    }
    ++rows;
  });
  if (rows != 3) refuse_server(db, "of a result of 3 rows " + std::to_string(rows) + " come");
}

// Makes all of them the first time, so that a later rehearsal changes nothing.
void make_leases(db::Connection& db, const Stage& stage) {
  const db::Row made = db.run({on(stage, sql::k_rehearsed)}).front().one();
  require_same_session(db, made);
  if (made.u64(0) == 1) return;
  std::string rows;
  for (std::uint32_t place = 0; place < kPlaces; ++place) {
    rows += (place == 0 ? "(" : ", (") + std::to_string(kUnusedQueue) + ", " +
            std::to_string(place) + ", UTC_TIMESTAMP(6))";
  }
  db::Statement create(sql::k_create_partition);
  create.set_raw("rows", rows);
  db.run({create});
}

// Leaves the transaction open, which keeps the fence's lock.
void bury_one(db::Connection& db, const Stage& stage) {
  db::Statement bury = on(stage, bury_without_holder());
  bury.set("prio", 1).set("attempt", 1);
  bury.set("cause", "rehearsal").set("error", "").set_raw("detail", "NULL").set("fault", "");
  const std::vector<db::Statement> statements{on(stage, sql::k_rehearse), bury,
                                              on(stage, sql::k_rehearsed)};
  auto results = db.open_transaction(statements);
  // Two INSERT, one UPDATE, the statements of bury.sql (an INSERT and two DELETE), and the SELECT.
  if (results.at(2).affected() != 1) {
    refuse_server(db, "an UPDATE that matches a row reports " +
                          std::to_string(results[2].affected()) +
                          " rows (CLIENT_FOUND_ROWS is not passed on)");
  }
  const db::Row left = results.back().one();
  require_same_session(db, left);
  if (left.u64(0) != 1) {
    refuse_server(db, "a DELETE that asks for its lease deletes the lease as well");
  }
  if (left.u64(1) != 1 || left.u64(2) != 0 || left.u64(3) != 0) {
    refuse_server(db, "burying a task does not move it completely (" + left.string(1) + " dead, " +
                          left.string(2) + " waiting, " + left.string(3) + " moved)");
  }
}

enum class Answer { kTaken, kPassedOver, kWaited };

// Result of `lease` on the partition. Rolled back at once.
Answer lease_once(db::Connection& db, Partition partition) {
  db::Statement lease(sql::k_lease);
  set_partition(lease, partition).set_raw("nowait", "NOWAIT");
  lease.set("holder", 1).set("origin", 1).set("host", "").set("instance", "").set("pid", 0);
  lease.set("ttl_us", 1).set("block_size", 0).set("known_us", 0);
  lease.set("passed_flag", 0);
  try {
    const std::vector<db::Statement> statements{lease};
    const auto results = db.open_transaction(statements);
    db.roll_back();
    return results.at(0).affected() == 1 ? Answer::kTaken : Answer::kPassedOver;
  } catch (const db::DbError& error) {
    if (db::is_not_won(error, db.lock_wait())) return Answer::kPassedOver;
    if (error.number() == kLockWait) return Answer::kWaited;
    if (error.number() != kSyntaxError) throw;
    refuse_server(
        db, "it does not know NOWAIT as lease.sql uses it (" + std::string(error.what()) + ")");
  }
}

// False: the lease waited, for the locked row or because the table is being altered.
bool try_one(db::Connection& db, db::Connection& other, const Stage& stage) {
  make_leases(db, stage);
  bury_one(db, stage);
  const Answer answer = lease_once(other, stage.partition);
  db.roll_back();
  if (answer == Answer::kWaited) return false;
  if (answer == Answer::kTaken) {
    refuse_server(db, "a fence does not lock the row of its lease (FOR UPDATE)");
  }
  // Another process may be rehearsing here now.
  for (int tries = 1; lease_once(other, stage.partition) != Answer::kTaken; ++tries) {
    if (tries == kRehearsals)
      throw db::DbError(kDeadlock,
                        "another rehearsal runs here, or the leases of queue " +
                            std::to_string(kUnusedQueue) + " in q_lock_table are not FREE",
                        db::Phase::kConnect);
  }
  return true;
}

}  // namespace

void rehearse(db::Connection& db, const db::ConnectOptions& options) {
  db.require_session();
  read_values(db);
  refuse_unfit(db);
  db::ConnectOptions same = db::to_same_server(options, db);
  same.lock_wait = std::chrono::seconds(1);
  db::Connection other(same);
  int waits = 0;
  for (int tries = 1;; ++tries) {
    try {
      if (try_one(db, other, Stage())) return;
      if (++waits == kMostWaits) refuse_server(db, "a lease waits for a locked row (NOWAIT)");
    } catch (const db::DbError& error) {
      const bool alive = error.error_class() != db::ErrorClass::kGone;
      if (alive && db.in_transaction()) db.roll_back();
      // The table is locked, perhaps for long: the caller decides.
      const bool met =
          error.number() == kDeadlock || error.error_class() == db::ErrorClass::kDuplicate;
      if (!met || tries >= kRehearsals) throw;
    }
  }
}

std::optional<std::string> untested(const std::string& version) {
  const bool mariadb = version.find("MariaDB") != std::string::npos;
  const bool known = mariadb ? version.starts_with("10.11.") || version.starts_with("11.8.")
                             : version.starts_with("9.7.");
  if (known) return std::nullopt;
  return "this version of Allot was not tested on " + version +
         "; it was tested on MariaDB 10.11 and 11.8, and on MySQL 9.7";
}

}  // namespace allot::queue
