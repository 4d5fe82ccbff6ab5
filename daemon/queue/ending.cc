// SPDX-License-Identifier: Apache-2.0
#include "queue/ending.h"

#include "queue/cancel_request.h"
#include "queue/statements.h"
#include "sql/queries.h"

namespace allot::queue {
namespace {

db::Statement of_detached(const sql::SqlText& sql, const Detached& detached) {
  db::Statement statement(sql);
  set_partition(statement, detached.id.partition)
      .set("prio", detached.id.prio)
      .set("first_key", detached.id.first_key)
      .set("holder", detached.holder);
  return statement;
}

// Sends one statement with each trip, because together they may be larger than a packet.
void submit_in(db::Connection& db, std::span<const Submission> successors) {
  for (const db::Statement& statement : submit_statements(db, successors)) db.run({statement});
}

}  // namespace

db::Statement Ending::require() const {
  if (detached_) {
    db::Statement require = of_detached(sql::k_require_detached, *detached_);
    require.set("epoch", detached_->epoch);
    return require;
  }
  db::Statement require(sql::k_require_task);
  set_fence(require, lease_).set("prio", task_.key.prio).set("run_key", task_.key.run_key);
  return require;
}

std::vector<db::Statement> Ending::end() const {
  std::vector<db::Statement> statements{require()};
  if (detached_) {
    if (task_.record) statements.push_back(keep_statement(*detached_, task_.record->usage));
    statements.push_back(of_detached(sql::k_ack_detached, *detached_));
    statements.back().set("epoch", detached_->epoch);
    const TaskKey first_key{detached_->id.prio, detached_->id.first_key};
    statements.push_back(stamp_statement(detached_->id.partition, {&first_key, 1}, End::kFinished));
    statements.push_back(clear_cancel_statement(detached_->id.partition, {&first_key, 1}));
    return statements;
  }
  const Finished done = finished(task_);
  for (db::Statement& ack : ack_statements(lease_.partition, {&done, 1})) {
    statements.push_back(std::move(ack));
  }
  return statements;
}

// The task is not there under this fence. If the lease is still held, an earlier try had succeeded.
Landed Ending::gone(db::Connection& db) const {
  if (detached_) return Landed::kLeaseGone;
  db::Statement held(sql::k_held_lease);
  set_partition(held, lease_.partition).set("holder", lease_.holder);
  const auto row = db.run({held}).front().next();
  return row && row->u64(0) == lease_.epoch ? Landed::kYes : Landed::kLeaseGone;
}

Landed Ending::replace(db::Connection& db, std::span<const Submission> successors) const {
  try {
    return send_salted([&](std::uint32_t) {
      db.begin();
      try {
        submit_in(db, successors);
      } catch (const db::DbError& error) {
        if (error.error_class() != db::ErrorClass::kGone) db.roll_back();
        throw;
      }
      db.commit(end());
      return Landed::kYes;
    });
  } catch (const db::DbError& error) {
    if (error.number() != kOutOfRange) throw;
    return gone(db);
  }
}

Landed Ending::commit(db::Connection& db, std::span<const Submission> successors) const {
  try {
    send_salted([&](std::uint32_t) {
      if (successors.empty()) return Landed::kYes;
      db.execute("SAVEPOINT ending");
      try {
        submit_in(db, successors);
      } catch (const db::DbError& error) {
        if (error.error_class() == db::ErrorClass::kDuplicate) db.execute("ROLLBACK TO ending");
        throw;
      }
      return Landed::kYes;
    });
  } catch (const db::DbError& error) {
    if (error.error_class() != db::ErrorClass::kGone) db.roll_back();
    throw;
  }
  try {
    db.commit(end());
    return Landed::kYes;
  } catch (const db::DbError& error) {
    if (error.number() != kOutOfRange) throw;
    return Landed::kLeaseGone;
  }
}

bool Ending::landed(db::Connection& db) const {
  if (detached_) {
    const auto row = db.run({of_detached(sql::k_held_detached, *detached_)}).front().next();
    return !row || row->u64(0) != detached_->epoch;
  }
  db::Statement find(sql::k_find_task);
  set_partition(find, lease_.partition)
      .set("prio", task_.key.prio)
      .set("run_key", task_.key.run_key);
  return db.run({find}).front().row_count() == 0;
}

}  // namespace allot::queue
