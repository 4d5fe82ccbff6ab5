// SPDX-License-Identifier: Apache-2.0
#include "queue/detached_store.h"

#include "queue/cancel_request.h"
#include "queue/compression.h"
#include "queue/error_text.h"
#include "queue/lease_store.h"
#include "queue/statements.h"
#include "sql/queries.h"

namespace allot::queue {
namespace {

db::Statement fenced(const sql::SqlText& sql, const Detached& detached) {
  db::Statement statement(sql);
  set_id(statement, detached.id).set("epoch", detached.epoch).set("holder", detached.holder);
  return statement;
}

db::Statement record(const Detached& detached, std::uint32_t attempt, const Verdict& verdict) {
  db::Statement statement = fenced(sql::k_record_detached, detached);
  statement.set("attempt", attempt)
      .set("cause", verdict.cause)
      .set("error", error_text(verdict.error));
  return set_usage(statement, verdict.usage);
}

db::Statement forget(const Detached& detached, std::uint32_t attempt) {
  db::Statement statement = fenced(sql::k_forget_detached, detached);
  statement.set("attempt", attempt);
  return statement;
}

// Sends one transaction. The last statement takes the task out of task_running, or finds that it is
// gone.
Landed send(db::Connection& db, std::initializer_list<db::Statement> writes) {
  const std::vector<db::Statement> statements(writes);
  return db.transact(statements).back().affected() == 1 ? Landed::kYes : Landed::kLeaseGone;
}

// The same for a task that ends; it also stamps its unique key, if it has one, and deletes requests
// to cancel it.
Landed send_last(db::Connection& db, const Detached& detached, End end,
                 std::vector<db::Statement> writes) {
  const TaskKey first_key{detached.id.prio, detached.id.first_key};
  writes.push_back(stamp_statement(detached.id.partition, {&first_key, 1}, end));
  writes.push_back(clear_cancel_statement(detached.id.partition, {&first_key, 1}));
  const auto results = db.transact(writes);
  return results.at(results.size() - 3).affected() == 1 ? Landed::kYes : Landed::kLeaseGone;
}

Landed move(db::Connection& db, const Detached& detached, const db::Statement& first,
            std::uint32_t charged, std::uint32_t keep_flags, std::chrono::microseconds delay) {
  return send_salted([&](std::uint32_t salt) {
    db::Statement retry = fenced(sql::k_retry_detached, detached);
    retry.set("attempt", charged).set("keep_flags", keep_flags);
    set_pause(retry, delay, detached.time).set("salt", salt);
    return send(db, {first, retry});
  });
}

// Puts the task back where it was; if another task has that place by now, behind those that are
// due.
Landed put_back(db::Connection& db, const Detached& detached, const db::Statement& first,
                std::uint32_t charged, std::uint32_t keep_flags) {
  db::Statement back = fenced(sql::k_return_detached, detached);
  back.set("attempt", charged).set("keep_flags", keep_flags);
  try {
    return send(db, {first, back});
  } catch (const db::DbError& error) {
    if (error.error_class() != db::ErrorClass::kDuplicate) throw;
    return move(db, detached, first, charged, keep_flags, std::chrono::microseconds(0));
  }
}

std::vector<DetachedSighting> read_sightings(db::StatementResult& rows) {
  std::vector<DetachedSighting> seen;
  while (const auto row = rows.next()) {
    DetachedSighting& sighting = seen.emplace_back();
    sighting.id.partition = {static_cast<std::uint32_t>(row->u64(0)),
                             static_cast<std::uint32_t>(row->u64(1))};
    sighting.id.prio = static_cast<std::uint32_t>(row->u64(2));
    sighting.id.first_key = row->u64(3);
    sighting.attempt = static_cast<std::uint32_t>(row->u64(4));
    sighting.type = row->text(5);
    sighting.epoch = row->u64(6);
    sighting.expire_at = row->text(7);
    sighting.expired = row->u64(8) != 0;
    sighting.remaining = std::chrono::microseconds(row->u64(9));
    sighting.holder = std::string(row->text(10)) + "/" + std::string(row->text(11)) + "/" +
                      std::string(row->text(12));
    if (const auto ttl = row->maybe_u64(13)) sighting.ttl = std::chrono::microseconds(*ttl);
  }
  return seen;
}

}  // namespace

Detached DetachedStore::detached(const Lease& lease, const Task& task) {
  return {{lease.partition, task.key.prio, task.id_key()}, lease.epoch, lease.holder, lease.time};
}

db::Statement DetachedStore::detach_statement(const Lease& lease, const Task& task,
                                              std::uint32_t attempt) const {
  db::Statement detach(sql::k_detach);
  set_fence(detach, lease)
      .set("prio", task.key.prio)
      .set("run_key", task.key.run_key)
      .set("attempt", attempt)
      .set("origin", holder_.origin)
      .set("host", holder_.host)
      .set("instance", holder_.instance)
      .set("pid", holder_.pid)
      .set("attended_flag", kAttendedFlag)
      .set("ttl_us", ttl_.count());
  return detach;
}

// If nothing was moved, the fence was gone for good, or an earlier try had succeeded.
Landed DetachedStore::landed(db::Connection& db, const Lease& lease, const Task& task,
                             std::uint64_t moved) const {
  if (moved == 1) return Landed::kYes;
  const Detached mine = detached(lease, task);
  const auto now = held(db, mine.id);
  return now && now->epoch == mine.epoch ? Landed::kYes : Landed::kLeaseGone;
}

Landed DetachedStore::detach(db::Connection& db, const Lease& lease, const Task& task,
                             std::uint32_t attempt, std::span<const Finished> finished) const {
  std::vector<db::Statement> statements{detach_statement(lease, task, attempt)};
  for (db::Statement& ack : ack_statements(lease.partition, finished)) {
    statements.push_back(std::move(ack));
  }
  statements.push_back(release_statement(lease));
  return landed(db, lease, task, db.transact(statements).front().affected());
}

Landed DetachedStore::detach_beside(db::Connection& db, const Lease& lease, const Task& task,
                                    std::uint32_t attempt) const {
  const std::vector<db::Statement> statements{detach_statement(lease, task, attempt)};
  return landed(db, lease, task, db.transact(statements).front().affected());
}

bool DetachedStore::renew(db::Connection& db, const Detached& detached) const {
  db::Statement statement = fenced(sql::k_renew_detached, detached);
  statement.set("ttl_us", ttl_.count());
  return db.run({statement}).front().affected() == 1;
}

std::optional<Detached> DetachedStore::held(db::Connection& db, const TaskId& id) const {
  db::Statement statement(sql::k_held_detached);
  set_id(statement, id).set("holder", holder_.id);
  const auto row = db.run({statement}).front().next();
  if (!row) return std::nullopt;
  return Detached{id, row->u64(0), holder_.id, {}};
}

Landed DetachedStore::checkpoint(db::Connection& db, const Detached& detached,
                                 const StoredState& state) {
  db::Statement statement = fenced(sql::k_checkpoint_detached, detached);
  set_state(statement, state);
  return db.run({statement}).front().affected() == 1 ? Landed::kYes : Landed::kLeaseGone;
}

db::Statement keep_statement(const Detached& detached, const Usage& usage) {
  db::Statement keep = fenced(sql::k_keep_detached, detached);
  return set_usage(keep, usage);
}

Landed DetachedStore::ack(db::Connection& db, const Detached& detached,
                          const std::optional<Record>& record) {
  std::vector<db::Statement> writes;
  if (record) writes.push_back(keep_statement(detached, record->usage));
  writes.push_back(fenced(sql::k_ack_detached, detached));
  return send_last(db, detached, End::kFinished, std::move(writes));
}

Landed DetachedStore::retry(db::Connection& db, const Detached& detached, std::uint32_t attempt,
                            std::chrono::microseconds delay, const Verdict& verdict) {
  return move(db, detached, record(detached, attempt, verdict), attempt, kept_flags(verdict),
              delay);
}

Landed DetachedStore::bury(db::Connection& db, const Detached& detached, std::uint32_t attempt,
                           const Verdict& verdict, const std::optional<OnDead>& on_dead) {
  db::Statement bury = fenced(sql::k_bury_detached, detached);
  bury.set("attempt", attempt).set("cause", verdict.cause).set("error", error_text(verdict.error));
  if (!on_dead)
    return send_last(db, detached, End::kDead, {record(detached, attempt, verdict), bury});
  return send_salted([&](std::uint32_t salt) {
    db::Statement hook = fenced(sql::k_hook_detached, detached);
    set_death(hook, {*on_dead, attempt, verdict}, detached.id, salt);
    return send_last(db, detached, End::kDead, {hook, record(detached, attempt, verdict), bury});
  });
}

Landed DetachedStore::charge(db::Connection& db, const Detached& detached, std::uint32_t attempt,
                             const Verdict& verdict) {
  return put_back(db, detached, record(detached, attempt, verdict), attempt, kept_flags(verdict));
}

Landed DetachedStore::suspect(db::Connection& db, const Detached& detached, std::uint32_t attempt) {
  db::Statement suspect = fenced(sql::k_suspect_detached, detached);
  suspect.set("suspect_flag", kSuspectFlag);
  return put_back(db, detached, suspect, attempt - 1, kAllFlags);
}

Landed DetachedStore::give_back(db::Connection& db, const Detached& detached,
                                std::uint32_t attempt) {
  return put_back(db, detached, forget(detached, attempt), attempt - 1, kAllFlags);
}

Landed DetachedStore::snooze(db::Connection& db, const Detached& detached, std::uint32_t attempt,
                             std::chrono::microseconds delay) {
  return move(db, detached, forget(detached, attempt), attempt - 1, kEndedFlags, delay);
}

std::vector<DetachedSighting> DetachedStore::watch(db::Connection& db,
                                                   std::span<const std::uint32_t> queues) {
  db::Statement statement(sql::k_watch_detached);
  statement.set_raw("queue_ids", id_list(queues));
  auto results = db.run({statement});
  return read_sightings(results.front());
}

std::vector<DetachedSighting> DetachedStore::former(db::Connection& db) const {
  db::Statement statement(sql::k_former_detached);
  statement.set("origin", holder_.origin);
  auto results = db.run({statement});
  return read_sightings(results.front());
}

std::optional<Detached> DetachedStore::recover(db::Connection& db, const DetachedSighting& sighting,
                                               bool stale) const {
  db::Statement statement(sql::k_recover);
  set_id(statement, sighting.id)
      .set("holder", holder_.id)
      .set("origin", holder_.origin)
      .set("ttl_us", ttl_.count())
      .set("seen_epoch", sighting.epoch)
      .set("seen_expire_at", sighting.expire_at)
      .set("stale", stale ? 1 : 0)
      .set("suspect_flag", kSuspectFlag);
  const Detached mine{sighting.id, sighting.epoch + 1, holder_.id, {}};
  if (db.run({statement}).front().affected() == 1) return mine;
  // An earlier try may have succeeded although its reply was lost.
  const auto now = held(db, sighting.id);
  return now && now->epoch == mine.epoch ? std::optional(mine) : std::nullopt;
}

}  // namespace allot::queue
