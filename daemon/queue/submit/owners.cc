// SPDX-License-Identifier: Apache-2.0
#include "queue/submit/owners.h"

#include <map>
#include <set>
#include <string>
#include <vector>

#include "queue/model/statements.h"
#include "sql/queries.h"

namespace allot::queue {
namespace {

std::set<TaskId> running(db::Connection& db, std::uint32_t queue_id,
                         const std::vector<std::string>& keys) {
  db::Statement statement(sql::k_running_owners);
  statement.set("queue_id", queue_id)
      .set_raw("unique_keys", bytes_list(keys))
      .set("cancel_watched_flag", kCancelWatchedFlag);
  std::set<TaskId> ids;
  db.each_row(statement, [&](const db::Row& row) {
    ids.insert({{queue_id, row.u32(0)}, row.u32(1), row.u64(2)});
  });
  return ids;
}

}  // namespace

void find_owners(db::Connection& db, std::span<const Submission> submissions,
                 std::span<Submitted> made) {
  std::map<std::uint32_t, std::vector<std::string>> live;
  for (std::size_t i = 0; i < made.size(); ++i) {
    if (made[i].owner != Owner::kLive) continue;
    live[made[i].id.partition.queue_id].push_back(*submissions[i].options.unique_key);
  }
  try {
    for (const auto& [queue_id, keys] : live) {
      const std::set<TaskId> run = running(db, queue_id, keys);
      for (Submitted& task : made) {
        if (task.owner != Owner::kLive || task.id.partition.queue_id != queue_id) continue;
        task.owner = run.count(task.id) > 0 ? Owner::kRunning : Owner::kWaiting;
      }
    }
  } catch (const Error&) {
    // A submitter's account may lack the right to read tasks, or the connection may be lost by now.
  }
}

void bound_unique(db::Connection& db, std::uint32_t queue_id, std::span<const std::string> keys) {
  if (keys.empty()) return;
  db::Statement bound(sql::k_bound_unique);
  bound.set("queue_id", queue_id).set_raw("unique_keys", bytes_list(keys));
  db.run({bound});
}

}  // namespace allot::queue
