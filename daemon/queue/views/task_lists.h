// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "db/connection.h"
#include "queue/model/catalog.h"
#include "queue/model/task.h"
#include "queue/model/task_facts.h"

// The tasks of a queue: counts, and lists by page.
namespace allot::queue {

// A finished task, kept for queues with a history (C10).
struct Done {
  TaskId id;
  std::string type;
  std::uint32_t attempt = 0;  // the number of the attempt that succeeded
  std::string ended_at;       // UTC, ISO 8601
  std::string worker;         // "host/pid"
  Usage usage{};
  Headers headers{};
};

BoundedCount count_waiting(db::Connection& db, const QueueInfo& queue,
                           std::uint64_t most = kCountBound);
// Counts only tasks in partitions with number `first` and above.
BoundedCount count_from(db::Connection& db, const QueueInfo& queue, std::uint32_t first);
BoundedCount count_dead(db::Connection& db, const QueueInfo& queue,
                        std::uint64_t most = kCountBound);
// Detached tasks, which run outside their partition and do not count as waiting.
BoundedCount count_running(db::Connection& db, const QueueInfo& queue,
                           std::uint64_t most = kCountBound);

// At most `most` tasks of a queue after `after`, the last one of the page before.
std::vector<TaskView> list_tasks(db::Connection& db, const QueueInfo& queue, std::uint32_t most,
                                 const std::optional<TaskView>& after = std::nullopt);
std::vector<TaskView> list_running(db::Connection& db, const QueueInfo& queue, std::uint32_t most,
                                   const std::optional<TaskView>& after = std::nullopt);
// Newest first; with a group, only its tasks.
std::vector<TaskView> list_dead(db::Connection& db, const QueueInfo& queue, std::uint32_t most,
                                const std::optional<TaskView>& after = std::nullopt,
                                std::string_view group = {});
// Newest first.
std::vector<Done> list_done(db::Connection& db, const QueueInfo& queue, std::uint32_t most,
                            const std::optional<Done>& after = std::nullopt);
// nullopt: the task has not finished, or the history does not have it.
std::optional<Done> show_done(db::Connection& db, const TaskId& id);

}  // namespace allot::queue
