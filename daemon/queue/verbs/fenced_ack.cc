// SPDX-License-Identifier: Apache-2.0
#include "queue/verbs/fenced_ack.h"

#include "db/transaction.h"
#include "queue/model/statements.h"
#include "queue/verbs/cancel_request.h"
#include "queue/verbs/end_statements.h"
#include "sql/queries.h"

namespace allot::queue {
namespace {

// Sends one statement per trip, because together they may exceed a packet.
void submit_in(db::Connection& db, std::span<const Submission> successors) {
  for (const db::Statement& statement : submit_statements(db, successors)) db.run({statement});
}

}  // namespace

db::Statement FencedAck::require() const {
  db::Statement require(claim_.detached() ? sql::k_require_detached : sql::k_require_task);
  set_row(require, claim_);
  return require;
}

std::vector<db::Statement> FencedAck::end() const {
  std::vector<db::Statement> statements{require()};
  const auto add = [&](std::vector<db::Statement> more) {
    for (db::Statement& one : more) statements.push_back(std::move(one));
  };
  if (claim_.detached()) {
    add(ack_detached_statements(claim_, task_.record));
    add(end_statements(claim_, End::kFinished));
  } else {
    const Finished done = finished(task_);
    add(ack_statements(claim_.id.partition, {&done, 1}));
  }
  return statements;
}

Fenced FencedAck::replace(db::Connection& db, std::span<const Submission> successors) const {
  try {
    send_salted([&](std::uint32_t) {
      db.begin();
      db::or_roll_back(db, [&] { submit_in(db, successors); });
      db.commit(end());
    });
    return Fenced::kWritten;
  } catch (const db::DbError& error) {
    if (error.number() != kOutOfRange) throw;
    // If the lease is still held, an earlier try had succeeded.
    return claim_.detached() ? Fenced::kLost : fence_holds(db, lease_of(claim_));
  }
}

Fenced FencedAck::commit(db::Connection& db, std::span<const Submission> successors) const {
  send_salted([&](std::uint32_t) {
    if (successors.empty()) return;
    db.execute("SAVEPOINT before_ack");
    try {
      submit_in(db, successors);
    } catch (const db::DbError& error) {
      if (error.error_class() == db::ErrorClass::kDuplicate) db.execute("ROLLBACK TO before_ack");
      throw;
    }
  });
  try {
    db.commit(end());
    return Fenced::kWritten;
  } catch (const db::DbError& error) {
    if (error.number() != kOutOfRange) throw;
    return Fenced::kLost;
  }
}

bool FencedAck::landed(db::Connection& db) const {
  if (claim_.detached()) {
    db::Statement held(sql::k_held_detached);
    set_id(held, claim_.id).set("holder", claim_.holder);
    const auto row = db.run({held}).front().next();
    return !row || row->u64(0) != claim_.epoch;
  }
  db::Statement find(sql::k_find_task);
  set_partition(find, claim_.id.partition)
      .set("prio", claim_.id.prio)
      .set("run_key", claim_.run_key);
  return db.run({find}).front().row_count() == 0;
}

}  // namespace allot::queue
