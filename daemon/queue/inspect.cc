// SPDX-License-Identifier: Apache-2.0
#include "queue/inspect.h"

#include <algorithm>

#include "sql/queries.h"

namespace allot::queue {
namespace {

BoundedCount bounded(db::Connection& db, const sql::SqlText& sql, const QueueInfo& queue) {
  db::Statement statement(sql);
  statement.set("queue_id", queue.queue_id).set("most", kCountBound + 1);
  const std::uint64_t count = db.run({statement}).front().next()->u64(0);
  return {std::min(count, kCountBound), count > kCountBound};
}

// Columns that all lists of tasks begin with; see list_tasks.sql.
TaskView read_view(const db::Row& row, std::uint32_t queue_id) {
  TaskView view;
  view.id.partition = {queue_id, static_cast<std::uint32_t>(row.u64(0))};
  view.id.prio = static_cast<std::uint32_t>(row.u64(1));
  view.id.first_key = row.maybe_u64(3).value_or(row.u64(2));
  view.attempts = static_cast<std::uint32_t>(row.u64(4));
  view.type = row.text(5);
  view.payload_size = row.u64(6);
  view.at = row.text(7);
  return view;
}

db::Statement& set_id(db::Statement& statement, const TaskId& id) {
  return statement.set("queue_id", id.partition.queue_id)
      .set("partition_no", id.partition.partition_no)
      .set("prio", id.prio)
      .set("first_key", id.first_key);
}

std::string worker_name(const db::Row& row, std::size_t host, std::size_t pid) {
  if (row.is_null(host)) return {};
  return std::string(row.text(host)) + "/" + std::string(row.text(pid));
}

std::optional<TaskView> look(db::Connection& db, const TaskId& id) {
  db::Statement live(sql::k_show_task);
  db::Statement running(sql::k_show_running);
  db::Statement dead(sql::k_show_dead);
  set_id(live, id);
  set_id(running, id);
  set_id(dead, id);
  auto results = db.run({live, running, dead});
  if (const auto row = results[0].next()) {
    TaskView view = read_view(*row, id.partition.queue_id);
    view.payload = row->text(8);
    if (row->text(9) != "FREE") view.holder = worker_name(*row, 10, 11);
    return view;
  }
  if (const auto row = results[1].next()) {
    TaskView view = read_view(*row, id.partition.queue_id);
    view.running = true;
    view.payload = row->text(8);
    view.holder = worker_name(*row, 9, 10);
    return view;
  }
  if (const auto row = results[2].next()) {
    TaskView view = read_view(*row, id.partition.queue_id);
    view.dead = true;
    view.payload = row->text(8);
    view.cause = row->text(9);
    view.error = row->text(10);
    return view;
  }
  return std::nullopt;
}

}  // namespace

BoundedCount count_waiting(db::Connection& db, const QueueInfo& queue) {
  return bounded(db, sql::k_count_waiting, queue);
}

BoundedCount count_dead(db::Connection& db, const QueueInfo& queue) {
  return bounded(db, sql::k_count_dead, queue);
}

BoundedCount count_running(db::Connection& db, const QueueInfo& queue) {
  return bounded(db, sql::k_count_running, queue);
}

std::vector<TaskView> list_tasks(db::Connection& db, const QueueInfo& queue, std::uint32_t most) {
  db::Statement statement(sql::k_list_tasks);
  statement.set("queue_id", queue.queue_id).set("most", most);
  auto results = db.run({statement});
  std::vector<TaskView> views;
  while (const auto row = results.front().next()) views.push_back(read_view(*row, queue.queue_id));
  return views;
}

std::vector<TaskView> list_running(db::Connection& db, const QueueInfo& queue, std::uint32_t most) {
  db::Statement statement(sql::k_list_running);
  statement.set("queue_id", queue.queue_id).set("most", most);
  auto results = db.run({statement});
  std::vector<TaskView> views;
  while (const auto row = results.front().next()) {
    TaskView& view = views.emplace_back(read_view(*row, queue.queue_id));
    view.running = true;
    view.holder = worker_name(*row, 8, 9);
  }
  return views;
}

std::vector<TaskView> list_dead(db::Connection& db, const QueueInfo& queue, std::uint32_t most) {
  db::Statement statement(sql::k_list_dead);
  statement.set("queue_id", queue.queue_id).set("most", most);
  auto results = db.run({statement});
  std::vector<TaskView> views;
  while (const auto row = results.front().next()) {
    TaskView& view = views.emplace_back(read_view(*row, queue.queue_id));
    view.dead = true;
    view.cause = row->text(8);
    view.error = row->text(9);
  }
  return views;
}

std::optional<TaskView> show(db::Connection& db, const TaskId& id) {
  auto view = look(db, id);
  // It may have gone from one table to another between two looks.
  return view ? view : look(db, id);
}

std::vector<AttemptView> list_attempts(db::Connection& db, const TaskId& id) {
  db::Statement statement(sql::k_list_attempts);
  set_id(statement, id);
  auto results = db.run({statement});
  std::vector<AttemptView> attempts;
  while (const auto row = results.front().next()) {
    attempts.push_back({static_cast<std::uint32_t>(row->u64(0)),
                        std::string(row->text(1)),
                        std::string(row->text(2)),
                        std::string(row->text(3)),
                        worker_name(*row, 4, 5),
                        {row->maybe_u64(6), row->maybe_u64(7), row->maybe_u64(8)}});
  }
  return attempts;
}

}  // namespace allot::queue
