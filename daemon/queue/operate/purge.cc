// SPDX-License-Identifier: Apache-2.0
#include "queue/operate/purge.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "queue/model/statements.h"
#include "queue/model/task.h"
#include "queue/operate/dead_tasks.h"
#include "queue/submit/key_bound.h"
#include "sql/queries.h"

namespace allot::queue {
namespace {

db::StatementResult ask_old(db::Connection& db, const sql::SqlText& sql, std::uint32_t queue_id,
                            std::chrono::microseconds keep) {
  db::Statement old(sql);
  old.set("queue_id", queue_id).set("keep_us", keep.count()).set("most", kPurgeBatch);
  return std::move(db.run({old}).front());
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
  std::vector<std::string> free;
  std::vector<std::string> too_far;
  after.clear();
  while (const auto row = result.next()) {
    after = row->text(0);
    if (row->u64(1) != 0) free.push_back(after);
    if (row->u64(2) != 0) too_far.push_back(after);
  }
  bound_unique(db, queue_id, too_far);
  if (!free.empty()) {
    db::Statement purge(sql::k_purge_unique);
    purge.set("queue_id", queue_id)
        .set("keep_us", keep_us)
        .set_raw("unique_keys", bytes_list(free));
    db.run({purge});
  }
  if (result.row_count() == kPurgeBatch) return true;
  after.clear();
  return false;
}

}  // namespace allot::queue
