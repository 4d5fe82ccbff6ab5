// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "db/connection.h"
#include "queue/schedules/schedule.h"

// What operators and configurations do with schedules; the steward's ticks are in tick.h. All of
// these may be sent again after a lost reply.
namespace allot::queue {

enum class Put { kAdded, kChanged, kSame, kOlder };  // kOlder: the revision there is higher

// Where a schedule comes from, of one that a configuration applies.
struct AppliedText {
  std::uint64_t checksum = 0;
  std::uint32_t revision = 0;
};

// Makes the schedule, or changes the one of that name. Its next tick is `next` (nothing: none will
// ever come) when it is new or its expression or zone is another one; else it keeps its own.
// With any difference the version grows; counts, ticks, last_run and a pause stay. With `applied`
// nothing changes where that text was applied last, or one with a higher revision.
Put put_schedule(db::Connection& db, const ScheduleSpec& spec, std::optional<Moment> next,
                 const std::optional<AppliedText>& applied = std::nullopt);

// By name. find_schedule() has the payload; the list has it empty.
std::optional<Schedule> find_schedule(db::Connection& db, std::string_view name);
std::vector<Schedule> list_schedules(db::Connection& db);
// The newest first.
std::vector<ScheduleTick> list_ticks(db::Connection& db, std::uint32_t schedule_id);

// These are false when there is no such schedule. Ticks during a pause are dropped when it is
// resumed; resuming one that is not paused changes nothing. To pause a paused one changes its
// reason.
bool pause_schedule(db::Connection& db, std::string_view name, std::string_view reason);
bool resume_schedule(db::Connection& db, std::string_view name);
bool remove_schedule(db::Connection& db, std::string_view name);

// Submits a task of the schedule now, in one transaction with the record of it, whatever its next
// tick, its overlap or a pause say: the tick of it is the database's time. Not repeated after a
// lost reply: throws OutcomeUnknown. nullopt: there is no such schedule. Throws
// Error(kExitBadInput) when its queue is gone or refuses the task.
std::optional<TaskId> run_schedule_now(db::Connection& db, std::string_view name);

// The database's clock, to ask a calendar with.
Moment database_now(db::Connection& db);

}  // namespace allot::queue
