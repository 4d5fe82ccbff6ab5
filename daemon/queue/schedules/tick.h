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

// The statements of ticks; what a tick is to do, policy.h says, and when, the steward.
namespace allot::queue {

// One step of a schedule: a task for a tick, and ticks that get none.
struct Tick {
  std::uint32_t schedule_id = 0;
  std::uint64_t version = 0;         // that the step was computed by (S35)
  Moment seen_next_run{};            // the step is from here ...
  std::optional<Moment> next_run{};  // ... to here (S34); nothing: no tick will ever come
  std::optional<Moment> due_at{};
  Moment tick{};                     // of the task; of a step without one, the newest dropped
  std::optional<Submission> task{};  // nothing: all are dropped
  // With a unique key that another task has: true leaves the tick due, and nothing is written;
  // false skips it.
  bool waits = false;
  // Skips it anyway: the task of an earlier tick lives in another queue (S68).
  bool overlaps = false;
  std::uint64_t dropped = 0;  // beside the one that has the task
  Moment newest_dropped{};
  std::string reason{};  // why they are dropped
  std::string taken{};   // why the task is not made when another one has its unique key
};

// A schedule that is due soon.
struct DueSchedule {
  std::uint32_t schedule_id = 0;
  std::uint64_t version = 0;
  Moment next_run{};
  std::chrono::microseconds due_in{0};  // negative: it is due
  std::string error{};
  Moment clock{};  // the database's
};

// Those that are due within that time, the first ones first. Paused ones are left out.
std::vector<DueSchedule> due_schedules(db::Connection& db, std::chrono::microseconds ahead,
                                       std::size_t most);

// A schedule for the steward: `large` has no payload here, read it by fetch_whole().
struct FetchedSchedule {
  Schedule schedule;
  bool large = false;
};
std::vector<FetchedSchedule> fetch_schedules(db::Connection& db,
                                             std::span<const std::uint32_t> schedule_ids);
std::optional<Schedule> fetch_whole(db::Connection& db, std::uint32_t schedule_id);

struct TickDone {
  std::optional<TaskId> task{};  // nothing: skipped, or dropped
};

// Sends ticks in one packet, which is one transaction: all of them, or none with db::DbError. It
// is_refusal() where one of the schedules is not as its step says, is not due by the
// database's clock, or still waits. After an error of class kGone nobody knows; the schedule's row
// tells, and sending the same again is safe. Steps of one schedule follow each other.
std::vector<TickDone> send_ticks(db::Connection& db, std::span<const Tick> ticks);

[[nodiscard]] bool is_refusal(const db::DbError& error);

// Since when a unique key is free in all queues; nothing: a task of some queue has it. A key that
// is not in the map was never taken, or so long ago that nobody knows.
//
// Whoever asks after it has read the schedule's next_run, and sends the tick from there, makes no
// second task with the key: another tick of the schedule would have changed next_run (S34).
using FreeKeys = std::map<std::string, std::optional<Moment>, std::less<>>;
FreeKeys free_keys(db::Connection& db, std::span<const std::string> keys);

// False: it says so already, or is not as it was seen.
bool fail_schedule(db::Connection& db, const DueSchedule& due, const std::string& error);

}  // namespace allot::queue
