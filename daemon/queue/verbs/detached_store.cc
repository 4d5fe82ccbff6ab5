// SPDX-License-Identifier: Apache-2.0
#include "queue/verbs/detached_store.h"

#include "db/writer.h"
#include "queue/model/statements.h"
#include "queue/verbs/end_statements.h"
#include "queue/verbs/lease_store.h"
#include "sql/queries.h"

namespace allot::queue {
namespace {

std::vector<DetachedObservation> read_observations(db::StatementResult& rows) {
  std::vector<DetachedObservation> seen;
  while (const auto row = rows.next()) {
    DetachedObservation& observed = seen.emplace_back();
    observed.id.partition = {row->u32(0), row->u32(1)};
    observed.id.prio = row->u32(2);
    observed.id.first_key = row->u64(3);
    observed.attempt = row->u32(4);
    observed.type = row->text(5);
    observed.epoch = row->u64(6);
    observed.expire_at = row->text(7);
    observed.expired = row->u64(8) != 0;
    observed.remaining = std::chrono::microseconds(row->u64(9));
    observed.holder = row->string(10) + "/" + row->string(11) + "/" + row->string(12);
    if (const auto ttl = row->maybe_u64(13)) observed.ttl = std::chrono::microseconds(*ttl);
    observed.headers = read_headers(row->text(14));
  }
  return seen;
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
      .set("ttl_us", ttl_.count());
  return detach;
}

// The first statement moves the task. If it moved nothing, the fence is lost, or an earlier try had
// succeeded.
Fenced DetachedStore::send(db::Connection& db, const Fence& fence,
                           const std::vector<db::Statement>& statements) const {
  if (db.transact(statements).front().affected() == 1) return Fenced::kWritten;
  const auto now = held(db, fence.id);
  return now && now->epoch == fence.epoch ? Fenced::kWritten : Fenced::kLost;
}

Fenced DetachedStore::detach(db::Connection& db, const Fence& fence, std::uint32_t attempt,
                             std::span<const Finished> finished) const {
  std::vector<db::Statement> statements{detach_statement(fence, attempt)};
  for (db::Statement& ack : ack_statements(fence.id.partition, finished)) {
    statements.push_back(std::move(ack));
  }
  statements.push_back(release_statement(fence));
  return send(db, fence, statements);
}

Fenced DetachedStore::detach_concurrent(db::Connection& db, const Fence& fence,
                                        std::uint32_t attempt) const {
  return send(db, fence, {detach_statement(fence, attempt)});
}

bool DetachedStore::renew(db::Connection& db, const Fence& fence, const Progress& progress) const {
  db::Statement statement(sql::k_renew_detached);
  const bool shown = progress.percent.has_value();
  set_row(statement, fence)
      .set("ttl_us", ttl_.count())
      .set_raw("progress", shown ? std::to_string(*progress.percent) : "NULL")
      .set_raw("progress_text", shown ? db::Statement::quoted(progress.word) : "NULL");
  return db.run({statement}).front().affected() == 1;
}

std::optional<Fence> DetachedStore::held(db::Connection& db, const TaskId& id) const {
  db::Statement statement(sql::k_held_detached);
  set_id(statement, id).set("holder", holder_.id);
  const auto row = db.run({statement}).front().next();
  if (!row) return std::nullopt;
  return Fence{id, 0, row->u64(0), holder_.id, {}, Fence::Place::kDetached};
}

std::vector<DetachedObservation> DetachedStore::watch(db::Connection& db,
                                                      std::span<const std::uint32_t> queues) {
  db::Statement statement(sql::k_watch_detached);
  statement.set_raw("queue_ids", id_list(queues));
  auto results = db.run({statement});
  return read_observations(results.front());
}

std::vector<DetachedObservation> DetachedStore::former(db::Connection& db) const {
  db::Statement statement(sql::k_former_detached);
  statement.set("origin", holder_.origin);
  auto results = db.run({statement});
  return read_observations(results.front());
}

std::optional<Fence> DetachedStore::recover(db::Connection& db, const DetachedObservation& observed,
                                            Gone gone) const {
  db::Statement statement(sql::k_recover);
  set_id(statement, observed.id)
      .set("holder", holder_.id)
      .set("origin", holder_.origin)
      .set("ttl_us", ttl_.count())
      .set("seen_epoch", observed.epoch)
      .set("seen_expire_at", observed.expire_at)
      .set("stale", gone == Gone::kExpired ? 0 : 1)
      .set("former", gone == Gone::kFormer ? 1 : 0)
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
