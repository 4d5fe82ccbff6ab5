// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "db/connection.h"
#include "queue/task.h"

// What is taken away when its time is over, and what one worker of all does (C9, C10).
namespace allot::queue {

inline constexpr std::uint32_t kPurgeBatch = 1000;   // rows of a statement
inline constexpr std::chrono::hours kKeepUnique{1};  // a key that is free, before its row goes

// Each takes one batch of what is older than `keep`, and may be repeated after a lost reply. True:
// there may be more.
bool purge_history(db::Connection& db, std::uint32_t queue_id, std::chrono::microseconds keep);
bool purge_dead(db::Connection& db, std::uint32_t queue_id, std::chrono::microseconds keep);
// The keys behind `after`, which moves on; empty at the end.
bool purge_unique(db::Connection& db, std::uint32_t queue_id, std::string& after);

// How far the oldest is past its retention; nullopt: nothing is, or nothing is there.
struct PurgeLag {
  std::optional<std::chrono::seconds> history{};
  std::optional<std::chrono::seconds> dead{};
};
PurgeLag purge_lag(db::Connection& db, std::uint32_t queue_id, std::chrono::microseconds history,
                   std::chrono::microseconds dead);

// A duty of a queue that one worker of all does at a time. True: for so long it is the caller's.
// Nobody gives one back, so that whoever dies delays it by that.
void make_duty(db::Connection& db, std::uint32_t queue_id, std::string_view duty);
bool take_duty(db::Connection& db, std::uint32_t queue_id, std::string_view duty,
               std::chrono::microseconds for_so_long);

// A task that has run, or been due, for longer than it should.
struct Stuck {
  TaskId id;
  std::string type;
  std::uint32_t attempt = 0;  // of one that runs, the number of that; else those charged
  std::string since;          // UTC, ISO 8601
  std::string worker;         // "host/pid", or empty
};
// Detached tasks, at most kMostStuck.
std::vector<Stuck> stuck_running(db::Connection& db, std::uint32_t queue_id,
                                 std::chrono::microseconds after);
// The one that has been due the longest. Of a paused queue none.
std::optional<Stuck> stuck_waiting(db::Connection& db, std::uint32_t queue_id,
                                   std::chrono::microseconds after);

inline constexpr std::uint32_t kMostStuck = 100;

}  // namespace allot::queue
