// SPDX-License-Identifier: Apache-2.0
#include "queue/schedules/rows.h"

#include <array>
#include <cstdio>

#include "base/error.h"
#include "queue/model/statements.h"
#include "sql/queries.h"

namespace allot::queue {
namespace {

std::chrono::microseconds span_in(const db::Row& row, std::size_t i) {
  return std::chrono::microseconds(row.u64(i));
}

ScheduleSpec spec_in(const db::Row& row) {
  ScheduleSpec spec;
  spec.name = row.text(2);
  spec.expression = row.text(3);
  spec.zone = row.text(4);
  spec.queue = row.text(5);
  spec.type = row.text(6);
  spec.payload = row.text(7);
  spec.options.prio = row.u32(8);
  spec.options.delay = span_in(row, 9);
  spec.options.unique_key = row.maybe_text(10);
  spec.options.unique_for = span_in(row, 11);
  spec.options.partition_key = row.maybe_text(12);
  spec.options.expires_in = span_in(row, 13);
  const auto late = late_of(row.text(14));
  const auto overlap = overlap_of(row.text(17));
  if (!late || !overlap) throw Error("schedule '" + spec.name + "' has an unknown policy");
  spec.late = *late;
  spec.late_after = span_in(row, 15);
  spec.catch_up = row.u32(16);
  spec.overlap = *overlap;
  spec.jitter = span_in(row, 18);
  spec.tick_field = row.maybe_text(19);
  return spec;
}

}  // namespace

std::string datetime(std::optional<Moment> moment) {
  if (!moment) return "NULL";
  const auto day = std::chrono::floor<std::chrono::days>(*moment);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss time(*moment - day);
  std::array<char, 96> text{};
  std::snprintf(text.data(), text.size(), "TIMESTAMP'%04d-%02u-%02u %02d:%02d:%02d.%06d'",
                int(date.year()), unsigned(date.month()), unsigned(date.day()),
                static_cast<int>(time.hours().count()), static_cast<int>(time.minutes().count()),
                static_cast<int>(time.seconds().count()),
                static_cast<int>(time.subseconds().count()));
  return text.data();
}

std::optional<Moment> moment_in(const db::Row& row, std::size_t i) {
  const auto us = row.maybe_u64(i);
  if (!us) return std::nullopt;
  return Moment(std::chrono::microseconds(*us));
}

std::optional<TaskId> task_in(const db::Row& row, std::size_t first) {
  if (row.is_null(first)) return std::nullopt;
  return TaskId{{row.u32(first), row.u32(first + 1)}, row.u32(first + 2), row.u64(first + 3)};
}

Schedule schedule_in(const db::Row& row) {
  Schedule schedule;
  schedule.schedule_id = row.u32(0);
  schedule.version = row.u64(1);
  schedule.spec = spec_in(row);
  schedule.next_run = moment_in(row, 20);
  schedule.due_at = moment_in(row, 21);
  schedule.resumed_at = moment_in(row, 22);
  schedule.paused_at = moment_in(row, 23);
  schedule.pause_reason = row.text(24);
  schedule.last_run = moment_in(row, 25);
  if (const auto task = task_in(row, 26)) schedule.last_task = task->text();
  schedule.ticks = row.u64(30);
  schedule.submitted = row.u64(31);
  schedule.skipped = row.u64(32);
  schedule.dropped = row.u64(33);
  if (!row.is_null(34)) schedule.error = row.text(34);
  schedule.error_since = moment_in(row, 35);
  schedule.applied = row.maybe_u64(36);
  schedule.revision = row.u32(37);
  return schedule;
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
