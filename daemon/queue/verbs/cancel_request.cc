// SPDX-License-Identifier: Apache-2.0
#include "queue/verbs/cancel_request.h"

#include <utility>

#include "queue/model/statements.h"
#include "sql/queries.h"

namespace allot::queue {
namespace {

db::Statement of(const sql::SqlText& sql, const TaskId& id) {
  db::Statement statement(sql);
  set_id(statement, id);
  return statement;
}

TaskId id_of(const Lease& lease, const Task& task) {
  return {lease.partition, task.key.prio, task.id_key()};
}

std::optional<CancelRequest> read(db::StatementResult& rows) {
  const auto row = rows.next();
  if (!row) return std::nullopt;
  return CancelRequest{row->string(0), row->string(1), row->u64(2) != 0};
}

}  // namespace

std::optional<CancelRequest> find_cancel(db::Connection& db, const TaskId& id) {
  return std::move(find_cancels(db, {&id, 1}).front());
}

std::vector<std::optional<CancelRequest>> find_cancels(db::Connection& db,
                                                       std::span<const TaskId> ids) {
  std::vector<db::Statement> statements;
  for (const TaskId& id : ids) statements.push_back(of(sql::k_find_cancel, id));
  std::vector<std::optional<CancelRequest>> found;
  for (db::StatementResult& rows : db.run(statements)) found.push_back(read(rows));
  return found;
}

bool watch_cancel(db::Connection& db, const Lease& lease, const Task& task) {
  db::Statement watch(sql::k_watch_cancel);
  set_fence(watch, lease)
      .set("prio", task.key.prio)
      .set("run_key", task.key.run_key)
      .set("cancel_watched_flag", kCancelWatchedFlag);
  return db.transact({&watch, 1}).front().affected() == 1;
}

CancelCheck check_cancel(db::Connection& db, const Lease& lease, const Task& task) {
  db::Statement there = of(sql::k_still_there, id_of(lease, task));
  there.set("run_key", task.key.run_key);
  auto results = db.run({of(sql::k_find_cancel, id_of(lease, task)), there});
  return {read(results.front()), results.back().one().u64(0) != 0};
}

db::Statement clear_cancel_statement(Partition partition, std::span<const TaskKey> first_keys) {
  db::Statement clear(sql::k_clear_cancel);
  set_partition(clear, partition).set_raw("first_keys", key_condition("first_key", first_keys));
  return clear;
}

}  // namespace allot::queue
