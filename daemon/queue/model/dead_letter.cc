// SPDX-License-Identifier: Apache-2.0
#include "queue/model/dead_letter.h"

#include "queue/model/statements.h"
#include "sql/queries.h"

namespace allot::queue {

DeadLetter read_letter(const db::Row& row, std::uint32_t queue_id) {
  DeadLetter letter;
  letter.id = {{queue_id, row.u32(0)}, row.u32(1), row.u64(2)};
  letter.type = row.text(3);
  letter.cause = row.text(4);
  letter.fault = row.text(5);
  letter.group = row.text(6);
  letter.died_at = row.text(7);
  letter.died_at_us = row.u64(8);
  letter.ahead = row.u64(9) != 0;
  return letter;
}

std::vector<DeadLetter> page_dead(db::Connection& db, std::uint32_t queue_id, const TaskId& after,
                                  std::uint32_t most) {
  db::Statement statement(sql::k_page_dead);
  set_partition(statement, {queue_id, after.partition.partition_no})
      .set("prio", after.prio)
      .set("first_key", after.first_key)
      .set("limit", most);
  return db.read_all(statement, [&](const db::Row& row) { return read_letter(row, queue_id); });
}

BoundedCount count_group(db::Connection& db, const QueueInfo& queue, std::string_view group,
                         std::uint64_t bound) {
  db::Statement count(sql::k_count_group);
  count.set("queue_id", queue.queue_id).set("group", group).set("bound", bound);
  return up_to(bound, db.run({count}).front().one().u64(0));
}

}  // namespace allot::queue
