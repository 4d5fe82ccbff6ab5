// SPDX-License-Identifier: Apache-2.0
#include "queue/model/task_facts.h"

#include <numeric>

#include "queue/model/statements.h"
#include "sql/queries.h"

namespace allot::queue {
namespace {

std::optional<std::uint32_t> key_hash_of(const db::Row& row, std::size_t column) {
  const auto hash = row.maybe_u64(column);
  if (!hash) return std::nullopt;
  return static_cast<std::uint32_t>(*hash);
}

std::optional<TaskView> read_task(db::Connection& db, const TaskId& id) {
  db::Statement live(sql::k_show_task);
  db::Statement running(sql::k_show_running);
  db::Statement dead(sql::k_show_dead);
  set_id(live, id);
  set_id(running, id);
  set_id(dead, id);
  auto results = db.run({live, running, dead});
  if (const auto row = results[0].next()) {
    TaskView view = read_task_row(*row, id.partition.queue_id);
    view.payload = row->text(8);
    if (row->text(9) != "FREE") view.holder = worker_name(*row, 10, 11);
    view.flags = row->u32(12);
    view.no_handler = (view.flags & kNoHandlerFlag) != 0;
    view.expires_at = row->text(13);
    view.key_hash = key_hash_of(*row, 14);
    view.headers = read_headers(row->text(15));
    return view;
  }
  if (const auto row = results[1].next()) {
    TaskView view = read_task_row(*row, id.partition.queue_id);
    view.running = true;
    view.payload = row->text(8);
    view.holder = worker_name(*row, 9, 10);
    view.pid = static_cast<std::uint32_t>(row->maybe_u64(10).value_or(0));
    view.origin = row->maybe_u64(15).value_or(0);
    view.since = row->text(11);
    view.until = row->text(12);
    view.overdue = row->u64(13) != 0;
    view.flags = row->u32(14);
    view.silent_since = row->maybe_text(16);
    view.headers = read_headers(row->text(17));
    if (const auto percent = row->maybe_u64(18)) {
      view.progress = {static_cast<std::uint32_t>(*percent), row->string(19)};
    }
    return view;
  }
  if (const auto row = results[2].next()) {
    TaskView view = read_task_row(*row, id.partition.queue_id);
    view.dead = true;
    view.payload = row->text(8);
    view.cause = row->text(9);
    view.error = row->text(10);
    view.flags = row->u32(11);
    view.key_hash = key_hash_of(*row, 12);
    view.headers = read_headers(row->text(13));
    view.detail = row->string(14);
    view.fault = row->text(15);
    return view;
  }
  return std::nullopt;
}

std::vector<AttemptView> read_attempts(db::Connection& db, const TaskId& id, int earlier) {
  db::Statement statement(sql::k_list_attempts);
  set_id(statement, id).set("earlier", earlier);
  return db.read_all(statement, [](const db::Row& row) {
    return AttemptView{row.u32(0),
                       row.string(1),
                       row.string(2),
                       row.string(3),
                       worker_name(row, 4, 5),
                       row.u32(6),
                       {row.maybe_u64(7), row.maybe_u64(8), row.maybe_u64(9)},
                       row.string(10),
                       row.string(11),
                       row.string(12)};
  });
}

}  // namespace

TaskView read_task_row(const db::Row& row, std::uint32_t queue_id) {
  TaskView view;
  view.id.partition = {queue_id, row.u32(0)};
  view.id.prio = row.u32(1);
  view.id.first_key = row.maybe_u64(3).value_or(row.u64(2));
  view.attempts = row.u32(4);
  view.type = row.text(5);
  view.payload_size = row.u64(6);
  view.at = row.text(7);
  view.run_key = row.u64(2);
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
  standing.epoch = row->u64(0);
  standing.leased = row->text(1) != "FREE";
  if (standing.leased) standing.holder = worker_name(*row, 2, 3);
  standing.pid = static_cast<std::uint32_t>(row->maybe_u64(3).value_or(0));
  standing.origin = row->maybe_u64(11).value_or(0);
  standing.until = row->text(4);
  standing.overdue = standing.leased && row->u64(5) != 0;
  if (standing.leased) standing.silent_since = row->maybe_text(12);
  standing.defer_until = row->maybe_text(6);
  if (!row->is_null(7)) standing.paused = Pause{row->string(7), row->string(8)};
  standing.due = row->u64(9) != 0;
  standing.resizing = row->u64(10) != 0;
  if (const auto wait = row->maybe_u64(13)) standing.rate_wait = std::chrono::microseconds(*wait);
  standing.ahead = up_to(kAheadBound, results[1].one().u64(0));
  return standing;
}

std::optional<TaskView> show(db::Connection& db, const TaskId& id) {
  auto view = read_task(db, id);
  // The task may have moved from one table to another between two reads.
  return view ? view : read_task(db, id);
}

std::vector<AttemptView> list_attempts(db::Connection& db, const TaskId& id) {
  return read_attempts(db, id, 0);
}

std::vector<AttemptView> list_all_attempts(db::Connection& db, const TaskId& id) {
  return read_attempts(db, id, 1);
}

Headers find_headers(db::Connection& db, const TaskId& id, std::uint64_t run_key) {
  db::Statement find(sql::k_find_headers);
  set_id(find, id).set("run_key", run_key);
  auto results = db.run({find});
  const auto row = results.front().next();
  return row ? read_headers(row->text(0)) : Headers{};
}

}  // namespace allot::queue
