// SPDX-License-Identifier: Apache-2.0
#include "queue/notices/stuck.h"

#include "queue/model/statements.h"
#include "queue/model/task_facts.h"
#include "sql/queries.h"

namespace allot::queue {
namespace {

Stuck read_stuck(const db::Row& row, std::uint32_t queue_id) {
  Stuck stuck;
  TaskId& id = stuck.id;
  id.partition.queue_id = queue_id;
  row.read(0, id.partition.partition_no, id.prio, id.first_key, stuck.type, stuck.attempt,
           stuck.since);
  stuck.worker = worker_name(row, 6, 7);
  stuck.headers = read_headers(row.text(8));
  return stuck;
}

}  // namespace

std::vector<Stuck> stuck_running(db::Connection& db, std::uint32_t queue_id,
                                 std::chrono::microseconds after) {
  db::Statement ask(sql::k_stuck_running);
  ask.set("queue_id", queue_id).set("after_us", after).set("limit", kMostStuck);
  return db.read_all(ask, [&](const db::Row& row) { return read_stuck(row, queue_id); });
}

std::optional<Stuck> stuck_waiting(db::Connection& db, std::uint32_t queue_id,
                                   std::chrono::microseconds after) {
  db::Statement ask(sql::k_stuck_waiting);
  ask.set("queue_id", queue_id).set("after_us", after);
  return db.read_first(ask, [&](const db::Row& row) { return read_stuck(row, queue_id); });
}

std::vector<Stuck> stuck_unknown(db::Connection& db, std::span<const TaskId> tasks,
                                 std::chrono::microseconds after) {
  std::vector<db::Statement> asks;
  for (const TaskId& id : tasks) {
    db::Statement& ask = asks.emplace_back(sql::k_stuck_unknown);
    set_id(ask, id).set("no_handler_flag", kNoHandlerFlag).set("after_us", after);
  }
  std::vector<Stuck> all;
  if (asks.empty()) return all;
  auto results = db.run(asks);
  for (std::size_t i = 0; i < asks.size(); ++i) {
    if (const auto row = results[i].next()) {
      all.push_back(read_stuck(*row, tasks[i].partition.queue_id));
    }
  }
  return all;
}

}  // namespace allot::queue
