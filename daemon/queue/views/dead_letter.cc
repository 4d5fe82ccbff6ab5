// SPDX-License-Identifier: Apache-2.0
#include "queue/views/dead_letter.h"

#include <algorithm>
#include <utility>

#include "queue/model/statements.h"
#include "sql/queries.h"

namespace allot::queue {
namespace {

// The columns of page_dead.sql and newest_of_group.sql.
DeadLetter read_letter(const db::Row& row, std::uint32_t queue_id) {
  DeadLetter letter;
  letter.id.partition = {queue_id, static_cast<std::uint32_t>(row.u64(0))};
  letter.id.prio = static_cast<std::uint32_t>(row.u64(1));
  letter.id.first_key = row.u64(2);
  letter.type = row.text(3);
  letter.cause = row.text(4);
  letter.fault = row.text(5);
  letter.group = row.text(6);
  letter.died_at = row.text(7);
  letter.died_at_us = row.u64(8);
  letter.ahead = row.u64(9) != 0;
  return letter;
}

db::Statement of_group(const sql::SqlText& text, const QueueInfo& queue, std::string_view group) {
  db::Statement statement(text);
  statement.set("queue_id", queue.queue_id).set("group", group);
  return statement;
}

}  // namespace

std::vector<DeadLetter> page_dead(db::Connection& db, std::uint32_t queue_id, const TaskId& after,
                                  std::uint32_t most) {
  db::Statement statement(sql::k_page_dead);
  set_partition(statement, {queue_id, after.partition.partition_no})
      .set("prio", after.prio)
      .set("first_key", after.first_key)
      .set("limit", most);
  auto results = db.run({statement});
  std::vector<DeadLetter> page;
  while (const auto row = results.front().next()) page.push_back(read_letter(*row, queue_id));
  return page;
}

DeadGroups dead_groups(db::Connection& db, const QueueInfo& queue, std::uint64_t bound) {
  DeadGroups found;
  auto first = db.run({of_group(sql::k_group_after, queue, {})});
  auto next = first.front().next();
  std::string group = next ? std::string(next->text(0)) : std::string();
  while (!group.empty() && found.list.size() < kMostDeadGroups) {
    // One trip for each group, which also finds the next one.
    auto results = db.run({of_group(sql::k_newest_of_group, queue, group),
                           of_group(sql::k_count_group, queue, group).set("bound", bound),
                           of_group(sql::k_group_after, queue, group)});
    const auto newest = results[0].next();
    const auto counted = results[1].next();
    if (newest && counted) {
      const std::uint64_t tasks = counted->u64(0);
      found.list.push_back({read_letter(*newest, queue.queue_id),
                            std::string(counted->text(1)),
                            {std::min(tasks, bound), tasks > bound}});
    }
    next = results[2].next();
    group = next ? std::string(next->text(0)) : std::string();
  }
  found.all = group.empty();
  std::stable_sort(found.list.begin(), found.list.end(),
                   [](const auto& a, const auto& b) { return a.tasks.value > b.tasks.value; });
  return found;
}

BoundedCount count_group(db::Connection& db, const QueueInfo& queue, std::string_view group,
                         std::uint64_t bound) {
  auto results = db.run({of_group(sql::k_count_group, queue, group).set("bound", bound)});
  const std::uint64_t tasks = results.front().next()->u64(0);
  return {std::min(tasks, bound), tasks > bound};
}

}  // namespace allot::queue
