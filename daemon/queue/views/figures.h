// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "db/connection.h"
#include "queue/model/catalog.h"
#include "queue/model/task_facts.h"

// Figures of the whole database for monitoring, in a few trips. The cost grows with queues and
// partitions, not with tasks.
namespace allot::queue {

inline constexpr std::uint64_t kFigureBound = 10'000;  // limit of each count
inline constexpr std::size_t kMostFigures = 1'000;     // limit of queues
// A schedule is late once it has been due for this duration: the steward polls every two seconds.
inline constexpr std::chrono::seconds kLateSchedule{30};

struct QueueFigures {
  QueueInfo info;             // as list_queues() shows it
  std::uint64_t leased = 0;   // partitions
  std::uint64_t overdue = 0;  // leases among them that were not renewed in time
  // Time since the first waiting task was due; nullopt: no task is due.
  std::optional<std::chrono::microseconds> oldest_due{};
  // Only from figures():
  BoundedCount waiting{};
  BoundedCount detached{};
  BoundedCount dead{};
};

struct Figures {
  std::vector<QueueFigures> queues;  // the first kMostFigures, sorted by name
  std::uint64_t all_queues = 0;
  std::uint64_t late_schedules = 0;
  std::chrono::microseconds latest_schedule{0};  // delay of the latest of them
  std::uint64_t held_locks = 0;                  // slots of named locks
  std::uint64_t leaderless_duties = 0;
};
[[nodiscard]] Figures figures(db::Connection& db);

// Counts no tasks: one statement reads the first task of each partition. `queues`: of
// list_queues().
[[nodiscard]] std::vector<QueueFigures> queue_lags(db::Connection& db,
                                                   std::vector<QueueInfo> queues);

}  // namespace allot::queue
