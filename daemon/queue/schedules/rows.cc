// SPDX-License-Identifier: Apache-2.0
#include "queue/schedules/rows.h"

#include "base/error.h"
#include "queue/model/statements.h"
#include "sql/queries.h"

namespace allot::queue {
namespace {

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

}  // namespace

std::string datetime(std::optional<Moment> moment) {
  return moment ? "TIMESTAMP'" + moment_text(precise_text(*moment)) + "'" : "NULL";
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

}  // namespace allot::queue
