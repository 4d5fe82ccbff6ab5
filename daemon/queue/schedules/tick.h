// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "db/connection.h"
#include "queue/schedules/schedule.h"

// The statements of ticks; policy.h decides what a tick does, the steward when.
namespace allot::queue {

// One step of a schedule: a task for a tick, and ticks without a task.
struct Tick {
  std::uint32_t schedule_id = 0;
  std::uint64_t version = 0;         // by which the step was computed (S35)
  Moment seen_next_run{};            // the step is from here ...
  std::optional<Moment> next_run{};  // ... to here (S34); nullopt: no tick will ever come
  std::optional<Moment> due_at{};
  Moment tick{};                     // of the task; without a task, the newest dropped tick
  std::optional<Submission> task{};  // nullopt: all ticks are dropped
  // If another task has the unique key: true leaves the tick due and writes nothing; false skips
  // it.
  bool waits = false;
  // Skips it in any case: the task of an earlier tick exists in another queue (S68).
  bool overlaps = false;
  std::uint64_t dropped = 0;  // besides the one that has the task
  Moment newest_dropped{};
  std::string reason{};  // why they are dropped
  std::string taken{};   // why the task is not made if another one has its unique key
};

struct DueSchedule {
  std::uint32_t schedule_id = 0;
  std::uint64_t version = 0;
  Moment next_run{};
  std::chrono::microseconds due_in{0};  // negative: it is due
  std::string error{};
  Moment clock{};  // of the database
};

// Schedules that are due within that time, earliest first. Paused ones are left out.
std::vector<DueSchedule> due_schedules(db::Connection& db, std::chrono::microseconds ahead,
                                       std::size_t most);

// A schedule for the steward: `large` means that the payload is missing; read it with
// fetch_whole().
struct FetchedSchedule {
  Schedule schedule;
  bool large = false;
};
std::vector<FetchedSchedule> fetch_schedules(db::Connection& db,
                                             std::span<const std::uint32_t> schedule_ids);
std::optional<Schedule> fetch_whole(db::Connection& db, std::uint32_t schedule_id);

// Sends ticks in one packet and one transaction: all of them, or none with db::DbError.
// is_refusal() holds if one of the schedules differs from its step, is not due by the database's
// clock, or still waits. After an error of class kGone the outcome is unknown; the schedule's row
// shows it, and sending the same again is safe. Steps of one schedule are consecutive. Returns the
// task of each; nullopt: skipped or dropped.
std::vector<std::optional<TaskId>> send_ticks(db::Connection& db, std::span<const Tick> ticks);

[[nodiscard]] bool is_refusal(const db::DbError& error);

// Since when a unique key is free in all queues; nullopt: a task of some queue has it. A key that
// is not in the map was never taken, or was free before the rows were purged.
//
// A caller that reads this after the schedule's next_run, and sends the tick from there, makes no
// second task with the key: another tick of the schedule would have changed next_run (S34).
using FreeKeys = std::map<std::string, std::optional<Moment>, std::less<>>;
FreeKeys free_keys(db::Connection& db, std::span<const std::string> keys);

// False: the error is already stored, or the schedule has changed since.
bool fail_schedule(db::Connection& db, const DueSchedule& due, const std::string& error);

}  // namespace allot::queue
