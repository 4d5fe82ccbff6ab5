// SPDX-License-Identifier: Apache-2.0
#include "queue/views/dead_groups.h"

#include <algorithm>
#include <string_view>

#include "sql/queries.h"

namespace allot::queue {
namespace {

db::Statement of_group(const sql::SqlText& text, const QueueInfo& queue, std::string_view group) {
  db::Statement statement(text);
  statement.set("queue_id", queue.queue_id).set("group", group);
  return statement;
}

}  // namespace

DeadGroups dead_groups(db::Connection& db, const QueueInfo& queue, std::uint64_t bound) {
  DeadGroups found;
  auto first = db.run({of_group(sql::k_group_after, queue, {})});
  auto next = first.front().next();
  std::string group = next ? next->string(0) : std::string();
  while (!group.empty() && found.list.size() < kMostDeadGroups) {
    // One trip for each group, which also finds the next one.
    auto results = db.run({of_group(sql::k_newest_of_group, queue, group),
                           of_group(sql::k_count_group, queue, group).set("bound", bound),
                           of_group(sql::k_group_after, queue, group)});
    const auto newest = results[0].next();
    const auto counted = results[1].next();
    if (newest && counted) {
      found.list.push_back({read_letter(*newest, queue.queue_id), counted->string(1),
                            up_to(bound, counted->u64(0))});
    }
    next = results[2].next();
    group = next ? next->string(0) : std::string();
  }
  found.all = group.empty();
  std::stable_sort(found.list.begin(), found.list.end(),
                   [](const auto& a, const auto& b) { return a.tasks.value > b.tasks.value; });
  return found;
}

}  // namespace allot::queue
