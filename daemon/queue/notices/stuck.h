// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "db/connection.h"
#include "queue/model/task.h"

// Stuck tasks that a hook reports (C9).
namespace allot::queue {

// A task that has run or been due for too long.
struct Stuck {
  TaskId id;
  std::string type;
  std::uint32_t attempt = 0;  // number of the running attempt, otherwise of charged attempts
  std::string since;          // UTC, ISO 8601
  std::string worker;         // "host/pid", or empty
  Headers headers{};
};
// Detached tasks, at most kMostStuck.
std::vector<Stuck> stuck_running(db::Connection& db, std::uint32_t queue_id,
                                 std::chrono::microseconds after);
// The task that has been due the longest; nullopt for a paused queue.
std::optional<Stuck> stuck_waiting(db::Connection& db, std::uint32_t queue_id,
                                   std::chrono::microseconds after);
// The tasks among `tasks` that wait because no handler knows their type and were first due that
// long ago.
std::vector<Stuck> stuck_unknown(db::Connection& db, std::span<const TaskId> tasks,
                                 std::chrono::microseconds after);

inline constexpr std::uint32_t kMostStuck = 100;

}  // namespace allot::queue
