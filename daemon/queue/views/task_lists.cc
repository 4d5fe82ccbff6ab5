// SPDX-License-Identifier: Apache-2.0
#include "queue/views/task_lists.h"

#include "queue/model/statements.h"
#include "sql/queries.h"

namespace allot::queue {
namespace {

BoundedCount count(db::Connection& db, const sql::SqlText& text, const QueueInfo& queue,
                   std::uint64_t bound) {
  db::Statement statement(text);
  statement.set("queue_id", queue.queue_id).set("bound", bound);
  return up_to(bound, db.read_number(statement));
}

void read_done(const db::Row& row, std::uint32_t queue_id, Done& done) {
  TaskId& id = done.id;
  id.partition.queue_id = queue_id;
  row.read(0, id.partition.partition_no, id.prio, id.first_key, done.type, done.attempt,
           done.ended_at);
  done.worker = worker_name(row, 6, 7);
  row.read(8, done.usage.runtime_us, done.usage.cpu_us, done.usage.max_rss_kib);
  done.headers = read_headers(row.text(11));
}

}  // namespace

BoundedCount count_waiting(db::Connection& db, const QueueInfo& queue, std::uint64_t most) {
  return count(db, sql::k_count_waiting, queue, most);
}

BoundedCount count_from(db::Connection& db, const QueueInfo& queue, std::uint32_t first) {
  db::Statement statement(sql::k_count_retired);
  statement.set("queue_id", queue.queue_id).set("partitions", first).set("limit", kCountBound + 1);
  return up_to(kCountBound, db.read_number(statement));
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
      .set("before", after ? datetime_text(after->at) : std::string(kEndOfTime))
      .set("limit", most);
  return db.read_all(statement, [&](const db::Row& row) {
    TaskView view = read_task_row(row, queue.queue_id);
    view.dead = true;
    row.read(8, view.cause, view.error, view.fault);
    return view;
  });
}

std::vector<Done> list_done(db::Connection& db, const QueueInfo& queue, std::uint32_t most,
                            const std::optional<Done>& after) {
  const TaskId first = after ? after->id : TaskId{};
  db::Statement list(sql::k_list_history);
  set_partition(list, {queue.queue_id, first.partition.partition_no})
      .set("prio", first.prio)
      .set("first_key", first.first_key)
      .set("before", after ? datetime_text(after->ended_at) : std::string(kEndOfTime))
      .set("limit", most);
  return db.read_all<Done>(
      list, [&](const db::Row& row, Done& done) { read_done(row, queue.queue_id, done); });
}

std::optional<Done> show_done(db::Connection& db, const TaskId& id) {
  db::Statement show(sql::k_show_history);
  set_id(show, id);
  return db.read_first<Done>(
      show, [&](const db::Row& row, Done& done) { read_done(row, id.partition.queue_id, done); });
}

}  // namespace allot::queue
