// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "db/connection.h"
#include "queue/task.h"

// Removes rows that are past their time, and duties that one worker at a time does for all (C9,
// C10).
namespace allot::queue {

inline constexpr std::uint32_t kPurgeBatch = 1000;   // rows per statement
inline constexpr std::chrono::hours kKeepUnique{1};  // how long the row of a free key stays

// Each removes one batch of rows that are older than `keep`, and may be repeated after a lost
// reply. True: there may be more.
bool purge_history(db::Connection& db, std::uint32_t queue_id, std::chrono::microseconds keep);
bool purge_dead(db::Connection& db, std::uint32_t queue_id, std::chrono::microseconds keep);
// Purges the keys behind `after`, which moves on; it is empty at the end.
bool purge_unique(db::Connection& db, std::uint32_t queue_id, std::string& after);

// How far the oldest row is past its retention; nullopt: none is.
struct PurgeLag {
  std::optional<std::chrono::seconds> history{};
  std::optional<std::chrono::seconds> dead{};
};
PurgeLag purge_lag(db::Connection& db, std::uint32_t queue_id, std::chrono::microseconds history,
                   std::chrono::microseconds dead);

// A duty of a queue that one worker at a time does for all. True: the caller has it for that time.
// Nobody gives a duty back, so a worker that dies delays it by that time.
void make_duty(db::Connection& db, std::uint32_t queue_id, std::string_view duty);
bool take_duty(db::Connection& db, std::uint32_t queue_id, std::string_view duty,
               std::chrono::microseconds for_so_long);

// A task that has run, or been due, for too long.
struct Stuck {
  TaskId id;
  std::string type;
  std::uint32_t attempt = 0;  // the number of the running attempt, else those charged
  std::string since;          // UTC, ISO 8601
  std::string worker;         // "host/pid", or empty
};
// Detached tasks, at most kMostStuck.
std::vector<Stuck> stuck_running(db::Connection& db, std::uint32_t queue_id,
                                 std::chrono::microseconds after);
// The task that has been due the longest; none for a paused queue.
std::optional<Stuck> stuck_waiting(db::Connection& db, std::uint32_t queue_id,
                                   std::chrono::microseconds after);
// Those of `tasks` that wait because no handler knows their type, and were first due that long ago.
std::vector<Stuck> stuck_unknown(db::Connection& db, std::span<const TaskId> tasks,
                                 std::chrono::microseconds after);

inline constexpr std::uint32_t kMostStuck = 100;

}  // namespace allot::queue
