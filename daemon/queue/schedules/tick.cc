// SPDX-License-Identifier: Apache-2.0
// Rule: S33.
#include "queue/schedules/tick.h"

#include <algorithm>
#include <utility>

#include "queue/model/error_text.h"
#include "queue/model/statements.h"
#include "queue/schedules/schedule_store.h"
#include "queue/submit/owners.h"
#include "sql/queries.h"

namespace allot::queue {
namespace {

// Larger payloads are read one at a time and not kept.
constexpr std::uint64_t kInlinePayload = 8 << 10;
constexpr std::size_t kMaxReason = 255;  // a column's characters; ours are ASCII, or cut by bytes

std::string short_text(const std::string& text) {
  // Cutting may leave half a character at the end, which error_text() replaces.
  if (text.size() <= kMaxReason) return error_text(text);
  return error_text(text.substr(0, kMaxReason - 3)).substr(0, kMaxReason);
}

db::Statement fetch(const std::string& schedule_ids, std::uint64_t inline_limit) {
  db::Statement statement(sql::k_fetch_schedules);
  statement.set_raw("schedule_ids", schedule_ids).set("inline_limit", inline_limit);
  return statement;
}

class Packet {
 public:
  void add(const Tick& tick, PlannedTask* task) {
    db::Statement& require = put(sql::k_require_tick);
    require.set("schedule_id", tick.schedule_id)
        .set("version", tick.version)
        .set_raw("seen_next_run", datetime(tick.seen_next_run))
        .set_raw("next_run", datetime(tick.next_run));
    task_results_.push_back(count_);
    if (task != nullptr) {
      count_ += task->statements.size();
      for (db::Statement& one : task->statements) statements_.push_back(std::move(one));
      if (tick.waits && task->reservation) {
        db::Statement& reservation = put(sql::k_require_reservation);
        reservation.set_raw("key", key_of(*task, *tick.task));
      }
    }
    advance(tick, task);
  }

  std::vector<db::StatementResult> send(db::Connection& db) const {
    return db.transact(statements_);
  }
  // Index of the first result of a tick's task in the results of the packet.
  [[nodiscard]] std::size_t task_result(std::size_t i) const { return task_results_.at(i); }

 private:
  db::Statement& put(const sql::SqlText& sql, std::size_t results = 1) {
    count_ += results;
    return statements_.emplace_back(sql);
  }

  void advance(const Tick& tick, const PlannedTask* task) {
    db::Statement& advance = put(sql::k_advance_tick, 3);
    if (task != nullptr) {
      set_partition(advance, task->partition)
          .set("prio", task->prio)
          .set_raw("key", key_of(*task, *tick.task));
    } else {
      set_partition(advance, {}).set("prio", 0).set_raw("key", "NULL");
    }
    advance.set("schedule_id", tick.schedule_id)
        .set_raw("tick", datetime(tick.tick))
        .set("dropped", tick.dropped)
        .set("has_task", tick.task.has_value())
        .set_raw("next_run", datetime(tick.next_run))
        .set_raw("due_at", datetime(tick.due_at))
        .set("reason", short_text(tick.task ? tick.taken : tick.reason));
    if (!tick.task || tick.dropped == 0) return;
    db::Statement& drop = put(sql::k_drop_ticks);
    drop.set("schedule_id", tick.schedule_id)
        .set_raw("tick", datetime(tick.newest_dropped))
        .set("reason", short_text(tick.reason));
  }

  std::vector<db::Statement> statements_;
  std::vector<std::size_t> task_results_;
  std::size_t count_ = 0;  // of SQL statements
};

}  // namespace

std::vector<DueSchedule> due_schedules(db::Connection& db, std::chrono::microseconds ahead,
                                       std::size_t most) {
  db::Statement query(sql::k_due_schedules);
  query.set("ahead_us", ahead).set("limit", most);
  return db.read_all<DueSchedule>(query, [](const db::Row& row, DueSchedule& due) {
    row.read(0, due.schedule_id, due.version, due.next_run, due.due_in, due.error, due.clock);
  });
}

std::vector<FetchedSchedule> fetch_schedules(db::Connection& db,
                                             std::span<const std::uint32_t> schedule_ids) {
  return db.read_all<FetchedSchedule>(fetch(id_list(schedule_ids), kInlinePayload),
                                      [](const db::Row& row, FetchedSchedule& fetched) {
                                        read_schedule(row, fetched.schedule);
                                        fetched.large = row.u64(38) > kInlinePayload;
                                      });
}

std::optional<Schedule> fetch_whole(db::Connection& db, std::uint32_t schedule_id) {
  return db.read_first<Schedule>(fetch(std::to_string(schedule_id), kMaxPayload), read_schedule);
}

std::vector<std::optional<TaskId>> send_ticks(db::Connection& db, std::span<const Tick> ticks) {
  const auto submits = [](const Tick& tick) { return tick.task && !tick.overlaps; };
  std::vector<Submission> submissions;
  for (const Tick& tick : ticks) {
    if (submits(tick)) submissions.push_back(*tick.task);
  }
  std::vector<PlannedTask> tasks;
  if (!submissions.empty()) tasks = plan_each(db, submissions);
  Packet packet;
  std::size_t next = 0;
  for (const Tick& tick : ticks) packet.add(tick, submits(tick) ? &tasks.at(next++) : nullptr);
  auto results = packet.send(db);
  std::vector<std::optional<TaskId>> made(ticks.size());
  next = 0;
  for (std::size_t i = 0; i < ticks.size(); ++i) {
    if (!submits(ticks[i])) continue;
    const auto task = made_by(results, packet.task_result(i), tasks.at(next++));
    if (task && !task->existed()) made[i] = task->id;
  }
  return made;
}

bool is_refusal(const db::DbError& error) {
  return error.number() == kOutOfRange;
}

FreeKeys free_keys(db::Connection& db, std::span<const std::string> keys) {
  std::vector<db::Statement> reads;
  for (const std::string& key : keys) {
    reads.emplace_back(sql::k_free_keys).set_bytes("unique_key", key);
  }
  if (reads.empty()) return {};
  auto results = db.run(reads);
  FreeKeys found;
  std::map<std::uint32_t, std::vector<std::string>> too_far;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    while (const auto row = results.at(i).next()) {
      std::optional<Moment> since;
      if (row->u64(1) == 0) row->read(2, since);
      const auto [at, first] = found.try_emplace(keys[i], since);
      if (!first) at->second = at->second && since ? std::max(at->second, since) : std::nullopt;
      if (row->u64(3) == 0) continue;
      too_far[row->u32(0)].push_back(keys[i]);
    }
  }
  // The tick is not sent while a key is taken, so no submission would bound its reservation.
  for (const auto& [queue_id, of_queue] : too_far) bound_unique(db, queue_id, of_queue);
  return found;
}

bool fail_schedule(db::Connection& db, const DueSchedule& due, const std::string& error) {
  db::Statement fail(sql::k_fail_schedule);
  fail.set("schedule_id", due.schedule_id)
      .set("version", due.version)
      .set_raw("next_run", datetime(due.next_run))
      .set("error", short_text(error));
  return db.run({fail}).front().affected() > 0;
}

}  // namespace allot::queue
