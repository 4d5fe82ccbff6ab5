// SPDX-License-Identifier: Apache-2.0
#include "queue/model/task_facts.h"

#include <array>
#include <numeric>

#include "queue/model/statements.h"
#include "sql/queries.h"

namespace allot::queue {
namespace {

std::optional<TaskView> read_task(db::Connection& db, const TaskId& id) {
  std::vector<db::Statement> shows;
  for (const sql::SqlText* text : {&sql::k_show_task, &sql::k_show_running, &sql::k_show_dead}) {
    set_id(shows.emplace_back(*text), id);
  }
  auto results = db.run(shows);
  if (const auto row = results[0].next()) {
    TaskView view = read_task_row(*row, id.partition.queue_id);
    row->read(8, view.payload);
    if (row->text(9) != "FREE") view.holder = worker_name(*row, 10, 11);
    row->read(12, view.flags, view.expires_at, view.key_hash);
    view.no_handler = (view.flags & kNoHandlerFlag) != 0;
    view.headers = read_headers(row->text(15));
    return view;
  }
  if (const auto row = results[1].next()) {
    TaskView view = read_task_row(*row, id.partition.queue_id);
    view.running = true;
    row->read(8, view.payload);
    view.holder = worker_name(*row, 9, 10);
    row->read(10, view.pid, view.since, view.until, view.overdue, view.flags, view.origin,
              view.silent_since);
    view.headers = read_headers(row->text(17));
    row->read(18, view.progress.percent, view.progress.word);
    return view;
  }
  if (const auto row = results[2].next()) {
    TaskView view = read_task_row(*row, id.partition.queue_id);
    view.dead = true;
    row->read(8, view.payload, view.cause, view.error, view.flags, view.key_hash);
    view.headers = read_headers(row->text(13));
    row->read(14, view.detail, view.fault);
    return view;
  }
  return std::nullopt;
}

}  // namespace

TaskView read_task_row(const db::Row& row, std::uint32_t queue_id) {
  TaskView view;
  TaskId& id = view.id;
  id.partition.queue_id = queue_id;
  row.read(0, id.partition.partition_no, id.prio, view.run_key, id.first_key, view.attempts,
           view.type, view.payload_size, view.at);
  if (row.is_null(3)) id.first_key = view.run_key;
  return view;
}

std::string worker_name(const db::Row& row, std::size_t host, std::size_t pid) {
  if (row.is_null(host)) return {};
  return row.string(host) + "/" + row.string(pid);
}

std::optional<Standing> standing(db::Connection& db, const TaskView& task) {
  db::Statement why(sql::k_why);
  set_partition(why, task.id.partition).set("run_key", task.run_key);
  db::Statement ahead(sql::k_count_ahead);
  std::vector<std::uint32_t> before(task.id.prio);
  std::iota(before.begin(), before.end(), 0U);
  set_partition(ahead, task.id.partition)
      .set("prio", task.id.prio)
      .set("run_key", task.run_key)
      .set_raw("classes_before", id_list(before))
      .set("limit", kAheadBound + 1);
  auto results = db.run({why, ahead});
  const auto row = results[0].next();
  if (!row) return std::nullopt;
  Standing standing;
  row->read(0, standing.epoch);
  row->read(3, standing.pid, standing.until, standing.overdue, standing.defer_until);
  if (!row->is_null(7)) standing.paused = Pause{row->string(7), row->string(8)};
  row->read(9, standing.due, standing.resizing, standing.origin);
  row->read(13, standing.rate_wait);
  standing.leased = row->text(1) != "FREE";
  standing.overdue = standing.leased && standing.overdue;
  if (standing.leased) {
    standing.holder = worker_name(*row, 2, 3);
    row->read(12, standing.silent_since);
  }
  standing.ahead = up_to(kAheadBound, results[1].one().u64(0));
  return standing;
}

const char* name_of(Owner owner) {
  constexpr std::array kNames{
      static_cast<const char*>(nullptr), "waiting", "running", "live", "done", "dead"};
  return kNames.at(static_cast<std::size_t>(owner));
}

std::optional<TaskView> show(db::Connection& db, const TaskId& id) {
  auto view = read_task(db, id);
  // The task may have moved from one table to another between two reads.
  return view ? view : read_task(db, id);
}

std::vector<AttemptView> list_attempts(db::Connection& db, const TaskId& id, bool earlier) {
  db::Statement statement(sql::k_list_attempts);
  set_id(statement, id).set("earlier", earlier);
  return db.read_all<AttemptView>(statement, [](const db::Row& row, AttemptView& view) {
    row.read(0, view.attempt, view.ended_at, view.cause, view.error);
    view.worker = worker_name(row, 4, 5);
    row.read(6, view.retries_since, view.usage.runtime_us, view.usage.cpu_us,
             view.usage.max_rss_kib, view.detail, view.fault, view.log);
  });
}

Headers find_headers(db::Connection& db, const TaskId& id, std::uint64_t run_key) {
  db::Statement find(sql::k_find_headers);
  set_id(find, id).set("run_key", run_key);
  return db.read_first(find, [](const db::Row& row) { return read_headers(row.text(0)); })
      .value_or(Headers{});
}

}  // namespace allot::queue
