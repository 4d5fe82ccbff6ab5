// SPDX-License-Identifier: Apache-2.0
#include "queue/model/dead_letter.h"

#include <algorithm>

#include "queue/model/statements.h"
#include "sql/queries.h"

namespace allot::queue {
namespace {

constexpr std::size_t kMostGroups = 1'000;

// A row with the columns of page_dead.sql.
void read_letter(const db::Row& row, std::uint32_t queue_id, DeadLetter& letter) {
  TaskId& id = letter.id;
  id.partition.queue_id = queue_id;
  row.read(0, id.partition.partition_no, id.prio, id.first_key, letter.type, letter.cause,
           letter.fault, letter.group, letter.died_at, letter.died_at_us, letter.ahead);
}

db::Statement of_group(const sql::SqlText& text, const QueueInfo& queue, std::string_view group) {
  db::Statement statement(text);
  return statement.set("queue_id", queue.queue_id).set("group", group);
}

}  // namespace

std::vector<DeadLetter> page_dead(db::Connection& db, std::uint32_t queue_id, const TaskId& after,
                                  std::uint32_t most) {
  db::Statement statement(sql::k_page_dead);
  set_partition(statement, {queue_id, after.partition.partition_no})
      .set("prio", after.prio)
      .set("first_key", after.first_key)
      .set("limit", most);
  return db.read_all<DeadLetter>(statement, [&](const db::Row& row, DeadLetter& letter) {
    read_letter(row, queue_id, letter);
  });
}

BoundedCount count_group(db::Connection& db, const QueueInfo& queue, std::string_view group,
                         std::uint64_t bound) {
  return up_to(bound,
               db.read_number(of_group(sql::k_count_group, queue, group).set("bound", bound)));
}

DeadGroups dead_groups(db::Connection& db, const QueueInfo& queue, std::uint64_t bound) {
  DeadGroups found;
  const auto next_in = [](db::StatementResult& result) {
    const auto next = result.next();
    return next ? next->string(0) : std::string();
  };
  std::string group = next_in(db.run({of_group(sql::k_group_after, queue, {})}).front());
  while (!group.empty() && found.list.size() < kMostGroups) {
    // One trip for each group, which also finds the next one.
    auto results = db.run({of_group(sql::k_newest_of_group, queue, group),
                           of_group(sql::k_count_group, queue, group).set("bound", bound),
                           of_group(sql::k_group_after, queue, group)});
    if (const auto newest = results[0].next()) {
      DeadGroup& one = found.list.emplace_back();
      read_letter(*newest, queue.queue_id, one.newest);
      const db::Row counted = results[1].one();
      one.oldest_died_at = counted.text(1);
      one.tasks = up_to(bound, counted.u64(0));
    }
    group = next_in(results[2]);
  }
  found.all = group.empty();
  std::stable_sort(found.list.begin(), found.list.end(),
                   [](const auto& a, const auto& b) { return a.tasks.value > b.tasks.value; });
  return found;
}

}  // namespace allot::queue
