// SPDX-License-Identifier: Apache-2.0
#include "queue/schedules/schedule_store.h"

#include <algorithm>

#include "base/error.h"
#include "base/mutant.h"
#include "queue/model/audit.h"
#include "queue/model/error_text.h"
#include "queue/model/statements.h"
#include "queue/submit/address.h"
#include "sql/queries.h"

namespace allot::queue {
namespace {

constexpr int kStoreTries = 8;

void read_spec(const db::Row& row, ScheduleSpec& spec) {
  SubmitOptions& options = spec.options;
  row.read(2, spec.name, spec.expression, spec.zone, spec.queue, spec.type, spec.payload,
           options.prio, options.delay, options.unique_key, options.unique_for,
           options.partition_key, options.expires_in);
  const auto late = late_of(row.text(14));
  const auto overlap = overlap_of(row.text(17));
  if (!late || !overlap) throw Error("schedule '" + spec.name + "' has an unknown policy");
  spec.late = *late;
  spec.overlap = *overlap;
  row.read(15, spec.late_after, spec.catch_up);
  row.read(18, spec.jitter, spec.tick_field);
}

db::Statement& set_spec(db::Statement& statement, const ScheduleSpec& spec,
                        std::optional<Moment> next, std::optional<std::uint64_t> applied,
                        std::uint32_t revision) {
  const SubmitOptions& options = spec.options;
  const auto due = next ? std::optional(due_at(spec, *next)) : std::nullopt;
  return statement.set("expression", spec.expression)
      .set("zone", spec.zone)
      .set("queue", spec.queue)
      .set("type", spec.type)
      .set_bytes("payload", spec.payload)
      .set("prio", options.prio)
      .set("delay_us", options.delay)
      .set_bytes("unique_key", options.unique_key)
      .set("unique_for_us", options.unique_for)
      .set_bytes("partition_key", options.partition_key)
      .set("expires_in_us", options.expires_in)
      .set("late", name_of(spec.late))
      .set("late_after_us", spec.late_after)
      .set("catch_up", spec.catch_up)
      .set("overlap", name_of(spec.overlap))
      .set("jitter_us", spec.jitter)
      .set("tick_field", spec.tick_field)
      .set_raw("next_run", datetime(next))
      .set_raw("due_at", datetime(due))
      .set("applied", applied)
      .set("revision", revision);
}

// Action on an existing schedule; with a version, as it was read.
Action schedule_action(std::string_view verb, std::string_view name, std::uint64_t version = 0,
                       bool paused = false) {
  db::Statement found(sql::k_audit_schedule);
  found.set("name", name).set("version", version).set("paused", paused);
  return {verb, "schedule", std::string(name), found};
}

// False: another session made it first.
bool create(db::Connection& db, const ScheduleSpec& spec, std::optional<Moment> next,
            const std::optional<AppliedText>& applied) {
  db::Statement statement(sql::k_create_schedule);
  statement.set("name", spec.name);
  set_spec(statement, spec, next, applied ? std::optional(applied->checksum) : std::nullopt,
           applied ? applied->revision : 0);
  try {
    act(db, {"add_schedule", "schedule", spec.name, found_plain(spec.queue)}, {&statement, 1});
    return true;
  } catch (const db::DbError& error) {
    if (error.error_class() == db::ErrorClass::kDuplicate) return false;
    throw;
  }
}

// False: it was changed or had a tick since it was read.
bool change(db::Connection& db, const Schedule& found, const ScheduleSpec& spec,
            std::optional<Moment> next, const std::optional<AppliedText>& applied) {
  const bool same_ticks = spec.expression == found.spec.expression && spec.zone == found.spec.zone;
  const bool ran = next && found.last_run && *next <= *found.last_run;
  // A last_run far ahead comes from a clock that was ahead (S57).
  if (!same_ticks && ran && *found.last_run - *next <= next_run_tolerance()) {
    throw Error("schedule '" + spec.name + "' ran during the change; repeat the change",
                kExitFailure);
  }
  db::Statement statement(sql::k_change_schedule);
  set_spec(statement, spec, same_ticks ? found.next_run : next,
           applied ? std::optional(applied->checksum) : found.applied,
           applied ? applied->revision : found.revision)
      .set("schedule_id", found.schedule_id)
      .set("version", found.version)
      .set_raw("seen_next_run", datetime(found.next_run));
  const Action action = schedule_action("change_schedule", spec.name, found.version);
  return act(db, action, {&statement, 1}).front().affected() > 0;
}

}  // namespace

Put put_schedule(db::Connection& db, const ScheduleSpec& spec, std::optional<Moment> next,
                 const std::optional<AppliedText>& applied) {
  validate(spec);
  for (int tries = 1; tries <= kStoreTries; ++tries) {
    const auto found = find_schedule(db, spec.name);
    if (!found) {
      if (create(db, spec, next, applied)) return Put::kAdded;
      continue;
    }
    if (applied && found->applied) {
      if (found->revision > applied->revision) return Put::kOlder;
      if (found->applied == applied->checksum && found->revision == applied->revision) {
        return Put::kSame;
      }
    }
    const bool same = found->spec == spec;
    if (same && !applied) return Put::kSame;
    if (change(db, *found, spec, next, applied)) return same ? Put::kSame : Put::kChanged;
  }
  throw Error("schedule '" + spec.name + "' is being changed by others; repeat the change",
              kExitFailure);
}

std::optional<Schedule> find_schedule(db::Connection& db, std::string_view name) {
  db::Statement find(sql::k_find_schedule);
  auto schedule = db.read_first<Schedule>(find.set("name", name), read_schedule);
  // The server's comparison pads.
  return schedule && schedule->spec.name == name ? schedule : std::nullopt;
}

std::vector<Schedule> list_schedules(db::Connection& db) {
  return db.read_all<Schedule>(db::Statement(sql::k_list_schedules), read_schedule);
}

std::vector<ScheduleTick> list_ticks(db::Connection& db, std::uint32_t schedule_id) {
  db::Statement list(sql::k_list_ticks);
  list.set("schedule_id", schedule_id);
  return db.read_all<ScheduleTick>(list, [](const db::Row& row, ScheduleTick& tick) {
    row.read(0, tick.tick_no, tick.tick, tick.at);
    if (const auto task = task_in(row, 3)) tick.task = task->text();
    row.read(7, tick.reason);
  });
}

bool pause_schedule(db::Connection& db, std::string_view name, std::string_view reason) {
  db::Statement pause(sql::k_pause_schedule);
  pause.set("name", name).set("reason", error_text(reason));
  const Action action = schedule_action("pause_schedule", name);
  return act(db, action, {&pause, 1}).front().affected() > 0;
}

bool resume_schedule(db::Connection& db, std::string_view name) {
  db::Statement resume(sql::k_resume_schedule);
  resume.set("name", name);
  const Action action = schedule_action("resume_schedule", name, 0, true);
  return act(db, action, {&resume, 1}).front().affected() > 0;
}

bool remove_schedule(db::Connection& db, std::string_view name) {
  db::Statement remove(sql::k_remove_schedule);
  remove.set("name", name);
  return act(db, schedule_action("remove_schedule", name), {&remove, 1}).back().affected() > 0;
}

std::optional<TaskId> run_schedule_now(db::Connection& db, std::string_view name) {
  for (int tries = 1;; ++tries) {
    const auto found = find_schedule(db, name);
    if (!found) return std::nullopt;
    const auto queue = address(db, found->spec.queue, found->spec.type);
    if (!queue) {
      throw Error("schedule '" + found->spec.name + "': unknown queue '" + found->spec.queue + "'",
                  kExitBadInput);
    }
    const Moment now = database_now(db);
    ScheduleSpec spec = found->spec;
    spec.overlap = Overlap::kAllow;  // an explicit request always makes a task
    const Submission submission = submission_of(spec, *queue, now);
    validate(submission);
    PlannedTask task = std::move(plan_each(db, {&submission, 1}).front());
    std::vector<db::Statement> packet;
    packet.emplace_back(sql::k_require_schedule)
        .set("schedule_id", found->schedule_id)
        .set("version", found->version);
    for (db::Statement& one : task.statements) packet.push_back(std::move(one));
    set_partition(packet.emplace_back(sql::k_record_run), task.partition)
        .set("prio", task.prio)
        .set_raw("key", key_of(task, submission))
        .set("schedule_id", found->schedule_id)
        .set_raw("tick", datetime(now));
    try {
      auto results = act(db, schedule_action("run_schedule", name), packet);
      const auto made = made_by(results, 1, task);  // the first is of require_schedule
      return made ? std::optional(made->id) : std::nullopt;
    } catch (const db::DbError& error) {
      if (error.outcome_unknown()) {
        throw OutcomeUnknown("the outcome of running schedule '" + spec.name +
                                 "' is unknown, because the reply was lost",
                             error.what());
      }
      // Changed schedule, resized queue, taken key or deadlock: nothing was written.
      const bool again = error.number() == kOutOfRange ||
                         error.error_class() == db::ErrorClass::kDuplicate ||
                         error.error_class() == db::ErrorClass::kRetryable;
      if (!again || tries == kStoreTries) throw;
    }
  }
}

std::chrono::microseconds next_run_tolerance() {
  if (mutant::removed("next_run_tolerance")) return {};
  return std::chrono::minutes(1);
}

std::vector<FarSchedule> far_schedules(db::Connection& db, std::uint32_t after, std::size_t most) {
  db::Statement page(sql::k_far_schedules);
  page.set("after", after).set("tolerance_us", next_run_tolerance()).set("limit", most);
  return db.read_all<FarSchedule>(page, [](const db::Row& row, FarSchedule& far) {
    row.read(0, far.schedule_id, far.version, far.spec.name, far.spec.expression, far.spec.zone,
             far.spec.jitter, far.next_run, far.clock);
  });
}

bool reset_next_run(db::Connection& db, const FarSchedule& seen, Moment next_run) {
  db::Statement reset(sql::k_reset_schedule);
  reset.set("schedule_id", seen.schedule_id)
      .set("version", seen.version)
      .set_raw("seen_next_run", datetime(seen.next_run))
      .set_raw("next_run", datetime(next_run))
      .set_raw("due_at", datetime(due_at(seen.spec, next_run)))
      .set("tolerance_us", next_run_tolerance());
  return db.run({reset}).front().affected() > 0;
}

std::string datetime(std::optional<Moment> moment) {
  return moment ? "TIMESTAMP'" + datetime_text(precise_text(*moment)) + "'" : "NULL";
}

std::optional<TaskId> task_in(const db::Row& row, std::size_t first) {
  if (row.is_null(first)) return std::nullopt;
  return TaskId{{row.u32(first), row.u32(first + 1)}, row.u32(first + 2), row.u64(first + 3)};
}

void read_schedule(const db::Row& row, Schedule& schedule) {
  row.read(0, schedule.schedule_id, schedule.version);
  read_spec(row, schedule.spec);
  row.read(20, schedule.next_run, schedule.due_at, schedule.resumed_at, schedule.paused_at,
           schedule.pause_reason, schedule.last_run);
  if (const auto task = task_in(row, 26)) schedule.last_task = task->text();
  row.read(30, schedule.ticks, schedule.submitted, schedule.skipped, schedule.dropped,
           schedule.error, schedule.error_since, schedule.applied, schedule.revision);
}

std::string key_of(const PlannedTask& task, const Submission& submission) {
  if (!task.reservation) return db::Statement(sql::k_inserted_key).render();
  return db::Statement(sql::k_reserved_key)
      .set("queue_id", task.partition.queue_id)
      .set_bytes("unique_key", *submission.options.unique_key)
      .set("reservation", *task.reservation)
      .render();
}

std::optional<Submitted> made_by(std::span<db::StatementResult> results, std::size_t first,
                                 const PlannedTask& task) {
  if (!task.reservation) {
    return Submitted{{task.partition, task.prio, results[first].insert_id()}};
  }
  const auto row = results[first + 2].next();  // reserve_key, submit_unique, read_unique
  if (!row) return std::nullopt;
  const TaskId id{{task.partition.queue_id, row->u32(1)}, row->u32(2), row->u64(3)};
  return Submitted{id, row->u64(4) == *task.reservation ? Owner::kNone : Owner::kLive};
}

}  // namespace allot::queue
