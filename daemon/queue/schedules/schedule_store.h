// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "db/connection.h"
#include "queue/model/server_change.h"
#include "queue/schedules/schedule.h"
#include "queue/submit/submit.h"

// Changes of schedules by operators and configurations; the steward's ticks are in tick.h. All of
// these may be sent again after a lost reply.
namespace allot::queue {

enum class Put { kAdded, kChanged, kSame, kOlder };  // kOlder: the stored revision is higher

// Origin of a schedule that a configuration applies.
struct AppliedText {
  std::uint64_t checksum = 0;
  std::uint32_t revision = 0;
};

// Makes the schedule, or changes the one of that name. If it is new, or its expression or zone
// changes, its next tick is `next` (nullopt: none will ever come); otherwise its next tick stays.
// Any difference increases the version; counts, ticks, last_run and a pause stay. With `applied`,
// nothing changes if that text, or one with a higher revision, was applied last.
Put put_schedule(db::Connection& db, const ScheduleSpec& spec, std::optional<Moment> next,
                 const std::optional<AppliedText>& applied = std::nullopt);

// By name. find_schedule() reads the payload; the list leaves it empty.
std::optional<Schedule> find_schedule(db::Connection& db, std::string_view name);
std::vector<Schedule> list_schedules(db::Connection& db);
// Newest first.
std::vector<ScheduleTick> list_ticks(db::Connection& db, std::uint32_t schedule_id);

// False: no such schedule. Ticks during a pause are dropped on resume; resuming a schedule that is
// not paused changes nothing. Pausing a paused one changes its reason.
bool pause_schedule(db::Connection& db, std::string_view name, std::string_view reason);
bool resume_schedule(db::Connection& db, std::string_view name);
bool remove_schedule(db::Connection& db, std::string_view name);

// Submits a task of the schedule now, in one transaction with its record, regardless of its next
// tick, overlap and pause: its tick is the database's time. Not repeated after a lost reply: throws
// OutcomeUnknown. nullopt: no such schedule. Throws Error(kExitBadInput) if its queue is gone or
// refuses the task.
std::optional<TaskId> run_schedule_now(db::Connection& db, std::string_view name);

// How far next_run may be after the first tick from now on, after the database's clock was ahead
// (S57). Within it, a clock that is set back repeats no tick; beyond it, a schedule does not wait
// until the clock has caught up. The steward computes the calendar.
[[nodiscard]] std::chrono::microseconds next_run_tolerance();

struct FarSchedule {
  std::uint32_t schedule_id = 0;
  std::uint64_t version = 0;
  ScheduleSpec spec;  // name, expression, zone and jitter only
  Moment next_run{};
  Moment clock{};  // of the database
};

// Schedules with a number above `after` whose tick is due later than the tolerance from now, by
// number. Paused ones are left out: resume handles them.
std::vector<FarSchedule> far_schedules(db::Connection& db, std::uint32_t after, std::size_t most);

// False: the schedule has changed since, or the clock has caught up.
bool reset_next_run(db::Connection& db, const FarSchedule& seen, Moment next_run);

// Rows of the schedule tables, also for tick.h.
// A DATETIME(6) for a statement, or NULL.
std::string datetime(std::optional<Moment> moment);
// The public id of the task that four columns name; nullopt if they are NULL.
std::optional<TaskId> task_in(const db::Row& row, std::size_t first);
// A row of find_schedule.sql, list_schedules.sql or fetch_schedules.sql.
void read_schedule(const db::Row& row, Schedule& schedule);

// The key of a task for record_run.sql and advance_tick.sql.
std::string key_of(const PlannedTask& task, const Submission& submission);
// The task that the statements of `task` made, by their results from `first` on. The id names
// another task if that one has its key.
[[nodiscard]] std::optional<Submitted> made_by(std::span<db::StatementResult> results,
                                               std::size_t first, const PlannedTask& task);

}  // namespace allot::queue
