// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "db/connection.h"
#include "queue/look/inspect.h"
#include "queue/model/catalog.h"

// What monitoring wants to know of the whole database, in a few trips. What it reads grows with the
// queues and their partitions, and not with the tasks.
namespace allot::queue {

inline constexpr std::uint64_t kFigureBound = 10'000;  // of each count
inline constexpr std::size_t kMostFigures = 1'000;     // queues
// A schedule is late once it has been due for so long: the steward looks every two seconds.
inline constexpr std::chrono::seconds kLateSchedule{30};

struct QueueFigures {
  QueueInfo info;  // as list_queues() shows it
  BoundedCount waiting;
  BoundedCount detached;
  BoundedCount dead;
  std::uint64_t leased = 0;   // partitions
  std::uint64_t overdue = 0;  // leases among them that nobody has renewed in time
  // For how long the first waiting task has been due; nullopt: none is.
  std::optional<std::chrono::microseconds> oldest_due{};
};

struct Figures {
  std::vector<QueueFigures> queues;  // the first kMostFigures by name
  std::uint64_t all_queues = 0;
  std::uint64_t late_schedules = 0;
  std::chrono::microseconds latest_schedule{0};  // how late the first of them is
  std::uint64_t held_locks = 0;                  // slots of named locks
  std::uint64_t leaderless_duties = 0;
};
[[nodiscard]] Figures figures(db::Connection& db);

// How late the queues are and how many of their partitions are leased. Counts no tasks: one
// statement, which reads the first task of each partition.
struct QueueLag {
  std::string queue;
  std::uint64_t leased = 0;
  std::uint64_t overdue = 0;
  std::optional<std::chrono::microseconds> oldest_due{};  // as in QueueFigures
};
[[nodiscard]] std::vector<QueueLag> queue_lags(db::Connection& db);

}  // namespace allot::queue
