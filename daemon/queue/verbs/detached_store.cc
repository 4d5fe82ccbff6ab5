// SPDX-License-Identifier: Apache-2.0
#include "queue/verbs/detached_store.h"

#include "db/writer.h"
#include "queue/model/statements.h"
#include "queue/verbs/end_statements.h"
#include "queue/verbs/lease_store.h"
#include "sql/queries.h"

namespace allot::queue {
namespace {

void read_observed(const db::Row& row, DetachedObservation& observed) {
  TaskId& id = observed.id;
  row.read(0, id.partition.queue_id, id.partition.partition_no, id.prio, id.first_key,
           observed.attempt, observed.type, observed.epoch, observed.expire_at, observed.expired,
           observed.remaining);
  observed.holder = row.string(10) + "/" + row.string(11) + "/" + row.string(12);
  row.read(13, observed.ttl);
  observed.headers = read_headers(row.text(14));
}

}  // namespace

db::Statement DetachedStore::detach_statement(const Fence& fence, std::uint32_t attempt) const {
  db::Statement detach(sql::k_detach);
  set_row(detach, fence)
      .set("attempt", attempt)
      .set("origin", holder_.origin)
      .set("host", holder_.host)
      .set("instance", holder_.instance)
      .set("pid", holder_.pid)
      .set("cancel_watched_flag", kCancelWatchedFlag)
      .set("ttl_us", ttl_);
  return detach;
}

Fenced DetachedStore::detach(db::Connection& db, const Fence& fence, std::uint32_t attempt,
                             std::span<const Finished> finished, Then then) const {
  std::vector<db::Statement> statements{detach_statement(fence, attempt)};
  for (db::Statement& ack : ack_statements(fence.id.partition, finished)) {
    statements.push_back(std::move(ack));
  }
  if (then == Then::kRelease) statements.push_back(release_statement(lease_of(fence)));
  // The first statement moves the task. If it moved nothing, the fence is lost, or an earlier try
  // had succeeded.
  if (db.transact(statements).front().affected() == 1) return Fenced::kWritten;
  const auto now = held(db, fence.id);
  return now && now->epoch == fence.epoch ? Fenced::kWritten : Fenced::kLost;
}

bool DetachedStore::renew(db::Connection& db, const Fence& fence, const Progress& progress) const {
  db::Statement statement(sql::k_renew_detached);
  set_row(statement, fence)
      .set("ttl_us", ttl_)
      .set("progress", progress.percent)
      .set("progress_text", progress.percent ? std::optional(progress.word) : std::nullopt);
  return db.run({statement}).front().affected() == 1;
}

std::optional<Fence> DetachedStore::held(db::Connection& db, const TaskId& id) const {
  db::Statement statement(sql::k_held_detached);
  set_id(statement, id).set("holder", holder_.id);
  return db.read_first(statement, [&](const db::Row& row) {
    return Fence{id, 0, row.u64(0), holder_.id, {}, Fence::Place::kDetached};
  });
}

std::vector<DetachedObservation> DetachedStore::watch(db::Connection& db,
                                                      std::span<const std::uint32_t> queues) {
  db::Statement statement(sql::k_watch_detached);
  statement.set_raw("queue_ids", id_list(queues));
  return db.read_all<DetachedObservation>(statement, read_observed);
}

std::vector<DetachedObservation> DetachedStore::former(db::Connection& db) const {
  db::Statement statement(sql::k_former_detached);
  statement.set("origin", holder_.origin);
  return db.read_all<DetachedObservation>(statement, read_observed);
}

std::optional<Fence> DetachedStore::recover(db::Connection& db, const DetachedObservation& observed,
                                            Gone gone) const {
  db::Statement statement(sql::k_recover);
  set_id(statement, observed.id)
      .set("holder", holder_.id)
      .set("origin", holder_.origin)
      .set("ttl_us", ttl_)
      .set("seen_epoch", observed.epoch)
      .set("seen_expire_at", observed.expire_at)
      .set("stale", gone != Gone::kExpired)
      .set("former", gone == Gone::kFormer)
      .set("suspect_flag", kSuspectFlag);
  const Fence mine{observed.id, 0, observed.epoch + 1, holder_.id, {}, Fence::Place::kDetached};
  const db::Statement note = db::note_server_statement(db);
  auto results = db.try_transact({&statement, 1}, {.before = &note});
  if (results && results->front().affected() == 1) return mine;
  // An earlier try may have succeeded with a lost reply.
  const auto now = held(db, observed.id);
  return now && now->epoch == mine.epoch ? std::optional(mine) : std::nullopt;
}

}  // namespace allot::queue
