// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "db/connection.h"
#include "queue/model/catalog.h"
#include "queue/model/task.h"

// Finished tasks that queues with a history keep (C10).
namespace allot::queue {

// A task that has finished.
struct Done {
  TaskId id;
  std::string type;
  std::uint32_t attempt = 0;  // the number of the attempt that succeeded
  std::string ended_at;       // UTC, ISO 8601
  std::string worker;         // "host/pid"
  Usage usage{};
  Headers headers{};
};

// nullopt: the task has not finished, or its queue keeps no history of it.
std::optional<Done> show_done(db::Connection& db, const TaskId& id);

struct DoneFilter {
  std::string type{};           // empty: every type
  std::optional<Done> after{};  // the next page: tasks that ended before this one
};
// The newest first, at most so many.
std::vector<Done> list_done(db::Connection& db, const QueueInfo& queue, const DoneFilter& filter,
                            std::uint32_t most);

}  // namespace allot::queue
