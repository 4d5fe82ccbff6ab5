// SPDX-License-Identifier: Apache-2.0
#include "queue/views/task_lists.h"

#include <string>

#include "queue/model/statements.h"
#include "sql/queries.h"

namespace allot::queue {
namespace {

BoundedCount count(db::Connection& db, const sql::SqlText& text, const QueueInfo& queue,
                   std::uint64_t bound) {
  db::Statement statement(text);
  statement.set("queue_id", queue.queue_id).set("bound", bound);
  return up_to(bound, db.run({statement}).front().one().u64(0));
}

}  // namespace

BoundedCount count_waiting(db::Connection& db, const QueueInfo& queue, std::uint64_t most) {
  return count(db, sql::k_count_waiting, queue, most);
}

BoundedCount count_from(db::Connection& db, const QueueInfo& queue, std::uint32_t first) {
  db::Statement statement(sql::k_count_retired);
  statement.set("queue_id", queue.queue_id).set("partitions", first).set("limit", kCountBound + 1);
  return up_to(kCountBound, db.run({statement}).front().one().u64(0));
}

BoundedCount count_dead(db::Connection& db, const QueueInfo& queue, std::uint64_t most) {
  return count(db, sql::k_count_dead, queue, most);
}

BoundedCount count_running(db::Connection& db, const QueueInfo& queue, std::uint64_t most) {
  return count(db, sql::k_count_running, queue, most);
}

std::vector<TaskView> list_tasks(db::Connection& db, const QueueInfo& queue, std::uint32_t most,
                                 const std::optional<TaskView>& after) {
  const TaskView from = after.value_or(TaskView{});  // keys begin after 0
  db::Statement statement(sql::k_list_tasks);
  set_partition(statement, {queue.queue_id, from.id.partition.partition_no})
      .set("prio", from.id.prio)
      .set("run_key", from.run_key)
      .set("limit", most);
  return db.read_all(statement,
                     [&](const db::Row& row) { return read_task_row(row, queue.queue_id); });
}

std::vector<TaskView> list_running(db::Connection& db, const QueueInfo& queue, std::uint32_t most,
                                   const std::optional<TaskView>& after) {
  TaskId from = after.value_or(TaskView{}).id;
  from.partition.queue_id = queue.queue_id;
  db::Statement statement(sql::k_list_running);
  set_id(statement, from).set("limit", most);
  return db.read_all(statement, [&](const db::Row& row) {
    TaskView view = read_task_row(row, queue.queue_id);
    view.running = true;
    view.holder = worker_name(row, 8, 9);
    return view;
  });
}

std::vector<TaskView> list_dead(db::Connection& db, const QueueInfo& queue, std::uint32_t most,
                                const std::optional<TaskView>& after, std::string_view group) {
  TaskId from = after.value_or(TaskView{}).id;
  from.partition.queue_id = queue.queue_id;
  db::Statement statement(group.empty() ? sql::k_list_dead : sql::k_list_group);
  if (!group.empty()) statement.set("group", group);
  set_id(statement, from)
      .set("before", after ? moment_text(after->at) : std::string(kEndOfTime))
      .set("limit", most);
  return db.read_all(statement, [&](const db::Row& row) {
    TaskView view = read_task_row(row, queue.queue_id);
    view.dead = true;
    view.cause = row.text(8);
    view.error = row.text(9);
    view.fault = row.text(10);
    return view;
  });
}

}  // namespace allot::queue
