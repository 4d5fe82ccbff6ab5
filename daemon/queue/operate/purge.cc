// SPDX-License-Identifier: Apache-2.0
#include "queue/operate/purge.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "queue/model/statements.h"
#include "queue/model/task.h"
#include "queue/submit/owners.h"
#include "sql/queries.h"

namespace allot::queue {
namespace {

constexpr std::chrono::microseconds kKeepEntries = std::chrono::hours(24 * 90);
constexpr std::uint64_t kKeptEntries = 1'000'000;

// Deletes one batch of the rows that `find` returns. `purge` checks their age again. One
// transaction per partition, so that none is long.
bool purge_old(db::Connection& db, const sql::SqlText& find, const sql::SqlText& purge,
               std::uint32_t queue_id, std::chrono::microseconds keep) {
  db::Statement old(find);
  old.set("queue_id", queue_id).set("keep_us", keep).set("limit", kPurgeBatch);
  auto found = std::move(db.run({old}).front());
  std::map<std::uint32_t, std::vector<TaskKey>> partitions;
  std::string before;
  while (const auto row = found.next()) {
    partitions[row->u32(0)].push_back({row->u32(1), row->u64(2)});
    before = row->text(3);
  }
  for (const auto& [partition_no, keys] : partitions) {
    db::Statement statement(purge);
    set_partition(statement, {queue_id, partition_no})
        .set_raw("first_keys", key_condition("first_key", keys))
        .set("before", before);
    db.transact({&statement, 1});
  }
  return found.row_count() == kPurgeBatch;
}

std::optional<std::chrono::seconds> overdue(const db::Row& row, std::size_t i) {
  if (row.is_null(i) || row.text(i).starts_with('-')) return std::nullopt;
  return std::chrono::seconds(row.u64(i));
}

}  // namespace

bool purge_history(db::Connection& db, std::uint32_t queue_id, std::chrono::microseconds keep) {
  return purge_old(db, sql::k_old_history, sql::k_purge_history, queue_id, keep);
}

bool purge_dead(db::Connection& db, std::uint32_t queue_id, std::chrono::microseconds keep) {
  return purge_old(db, sql::k_old_dead, sql::k_purge_dead, queue_id, keep);
}

bool purge_unique(db::Connection& db, std::uint32_t queue_id, std::string& after) {
  db::Statement page(sql::k_page_unique);
  page.set("queue_id", queue_id)
      .set("keep_us", kKeepUnique)
      .set_bytes("after", after)
      .set("limit", kPurgeBatch);
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
        .set("keep_us", kKeepUnique)
        .set_raw("unique_keys", bytes_list(free));
    db.run({purge});
  }
  if (result.row_count() == kPurgeBatch) return true;
  after.clear();
  return false;
}

bool purge_audit(db::Connection& db) {
  db::Statement newest(sql::k_list_audit);
  newest.set("before", UINT64_MAX).set("limit", 1);
  std::uint64_t last = 0;
  db.each_row(newest, [&](const db::Row& row) { row.read(0, last); });
  db::Statement purge(sql::k_purge_audit);
  purge.set("keep_us", kKeepEntries)
      .set("last_number", last - std::min(last, kKeptEntries))
      .set("limit", kPurgeBatch);
  const auto results = db.run({purge});
  return results.at(0).affected() + results.at(1).affected() >= kPurgeBatch;
}

PurgeLag purge_lag(db::Connection& db, std::uint32_t queue_id, std::chrono::microseconds history,
                   std::chrono::microseconds dead) {
  db::Statement ask(sql::k_purge_lag);
  ask.set("queue_id", queue_id).set("history_us", history).set("dead_us", dead);
  auto results = db.run({ask});
  const db::Row row = results.front().one();
  return {history.count() > 0 ? overdue(row, 0) : std::nullopt,
          dead.count() > 0 ? overdue(row, 1) : std::nullopt};
}

}  // namespace allot::queue
