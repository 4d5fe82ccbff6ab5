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

// Of a queue at most so many, the newest first, behind `after`, the last one of the page before.
std::vector<Done> list_done(db::Connection& db, const QueueInfo& queue, std::uint32_t most,
                            const std::optional<Done>& after = std::nullopt);

}  // namespace allot::queue
