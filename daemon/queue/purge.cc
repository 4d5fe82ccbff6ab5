// SPDX-License-Identifier: Apache-2.0
#include "queue/purge.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "queue/dead_letter.h"
#include "queue/statements.h"
#include "sql/queries.h"

namespace allot::queue {
namespace {

db::StatementResult ask_old(db::Connection& db, const sql::SqlText& sql, std::uint32_t queue_id,
                            std::chrono::microseconds keep) {
  db::Statement old(sql);
  old.set("queue_id", queue_id).set("keep_us", keep.count()).set("most", kPurgeBatch);
  return std::move(db.run({old}).front());
}

Stuck read_stuck(const db::Row& row, std::uint32_t queue_id) {
  Stuck stuck;
  stuck.id = {{queue_id, static_cast<std::uint32_t>(row.u64(0))},
              static_cast<std::uint32_t>(row.u64(1)),
              row.u64(2)};
  stuck.type = row.text(3);
  stuck.attempt = static_cast<std::uint32_t>(row.u64(4));
  stuck.since = row.text(5);
  if (!row.is_null(6)) stuck.worker = std::string(row.text(6)) + "/" + std::string(row.text(7));
  return stuck;
}

std::optional<std::chrono::seconds> overdue(const db::Row& row, std::size_t i) {
  if (row.is_null(i) || row.text(i).starts_with('-')) return std::nullopt;
  return std::chrono::seconds(row.u64(i));
}

}  // namespace

bool purge_history(db::Connection& db, std::uint32_t queue_id, std::chrono::microseconds keep) {
  struct Keys {
    std::vector<TaskKey> all;
    std::vector<TaskKey> tried;
  };
  std::map<std::uint32_t, Keys> partitions;
  auto old = ask_old(db, sql::k_old_history, queue_id, keep);
  while (const auto row = old.next()) {
    const TaskKey key{static_cast<std::uint32_t>(row->u64(1)), row->u64(2)};
    Keys& keys = partitions[static_cast<std::uint32_t>(row->u64(0))];
    keys.all.push_back(key);
    if (row->u64(3) != 0) keys.tried.push_back(key);
  }
  // Uses one transaction for each partition, so that none is long.
  for (const auto& [partition_no, keys] : partitions) {
    db::Statement purge(sql::k_purge_history);
    set_partition(purge, {queue_id, partition_no})
        .set_raw("tried_keys", key_condition("first_key", keys.tried))
        .set_raw("first_keys", key_condition("first_key", keys.all));
    db.transact({&purge, 1});
  }
  return old.row_count() == kPurgeBatch;
}

bool purge_dead(db::Connection& db, std::uint32_t queue_id, std::chrono::microseconds keep) {
  std::vector<TaskId> ids;
  auto old = ask_old(db, sql::k_old_dead, queue_id, keep);
  while (const auto row = old.next()) {
    ids.push_back({{queue_id, static_cast<std::uint32_t>(row->u64(0))},
                   static_cast<std::uint32_t>(row->u64(1)),
                   row->u64(2)});
  }
  for (std::size_t at = 0; at < ids.size(); at += kDeadBatch) {
    discard_dead(db, std::span(ids).subspan(at, std::min(kDeadBatch, ids.size() - at)));
  }
  return ids.size() == kPurgeBatch;
}

bool purge_unique(db::Connection& db, std::uint32_t queue_id, std::string& after) {
  const std::int64_t keep_us = std::chrono::microseconds(kKeepUnique).count();
  db::Statement page(sql::k_page_unique);
  page.set("queue_id", queue_id)
      .set("keep_us", keep_us)
      .set_bytes("after", after)
      .set("most", kPurgeBatch);
  auto result = std::move(db.run({page}).front());
  std::string free;
  after.clear();
  while (const auto row = result.next()) {
    after = row->text(0);
    if (row->u64(1) == 0) continue;
    free += (free.empty() ? "_binary" : ",_binary") + db::Statement::quoted(after);
  }
  if (!free.empty()) {
    db::Statement purge(sql::k_purge_unique);
    purge.set("queue_id", queue_id).set("keep_us", keep_us).set_raw("unique_keys", std::move(free));
    db.run({purge});
  }
  if (result.row_count() == kPurgeBatch) return true;
  after.clear();
  return false;
}

PurgeLag purge_lag(db::Connection& db, std::uint32_t queue_id, std::chrono::microseconds history,
                   std::chrono::microseconds dead) {
  db::Statement ask(sql::k_purge_lag);
  ask.set("queue_id", queue_id).set("history_us", history.count()).set("dead_us", dead.count());
  auto results = db.run({ask});
  const auto row = results.front().next();
  return {history.count() > 0 ? overdue(*row, 0) : std::nullopt,
          dead.count() > 0 ? overdue(*row, 1) : std::nullopt};
}

void make_duty(db::Connection& db, std::uint32_t queue_id, std::string_view duty) {
  db::Statement make(sql::k_make_duty);
  make.set("queue_id", queue_id).set("duty", duty);
  db.run({make});
}

bool take_duty(db::Connection& db, std::uint32_t queue_id, std::string_view duty,
               std::chrono::microseconds for_so_long) {
  db::Statement take(sql::k_take_duty);
  take.set("queue_id", queue_id).set("duty", duty).set("for_us", for_so_long.count());
  return db.run({take}).front().affected() == 1;
}

std::vector<Stuck> stuck_running(db::Connection& db, std::uint32_t queue_id,
                                 std::chrono::microseconds after) {
  db::Statement ask(sql::k_stuck_running);
  ask.set("queue_id", queue_id).set("after_us", after.count()).set("most", kMostStuck);
  auto results = db.run({ask});
  std::vector<Stuck> all;
  while (const auto row = results.front().next()) all.push_back(read_stuck(*row, queue_id));
  return all;
}

std::optional<Stuck> stuck_waiting(db::Connection& db, std::uint32_t queue_id,
                                   std::chrono::microseconds after) {
  db::Statement ask(sql::k_stuck_waiting);
  ask.set("queue_id", queue_id).set("after_us", after.count());
  auto results = db.run({ask});
  const auto row = results.front().next();
  if (!row) return std::nullopt;
  return read_stuck(*row, queue_id);
}

std::vector<Stuck> stuck_unknown(db::Connection& db, std::span<const TaskId> tasks,
                                 std::chrono::microseconds after) {
  std::vector<db::Statement> asks;
  for (const TaskId& id : tasks) {
    db::Statement& ask = asks.emplace_back(sql::k_stuck_unknown);
    set_id(ask, id).set("no_handler_flag", kNoHandlerFlag).set("after_us", after.count());
  }
  std::vector<Stuck> all;
  if (asks.empty()) return all;
  auto results = db.run(asks);
  for (std::size_t i = 0; i < asks.size(); ++i) {
    if (const auto row = results[i].next()) {
      all.push_back(read_stuck(*row, tasks[i].partition.queue_id));
    }
  }
  return all;
}

}  // namespace allot::queue
