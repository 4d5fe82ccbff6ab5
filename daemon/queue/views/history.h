// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "db/connection.h"
#include "queue/model/catalog.h"
#include "queue/model/task.h"

// Finished tasks, kept for queues with a history (C10).
namespace allot::queue {

struct Done {
  TaskId id;
  std::string type;
  std::uint32_t attempt = 0;  // the number of the attempt that succeeded
  std::string ended_at;       // UTC, ISO 8601
  std::string worker;         // "host/pid"
  Usage usage{};
  Headers headers{};
};

// nullopt: the task has not finished, or the history does not have it.
std::optional<Done> show_done(db::Connection& db, const TaskId& id);

// At most `most` finished tasks of a queue, newest first, after `after`, the last one of the page
// before.
std::vector<Done> list_done(db::Connection& db, const QueueInfo& queue, std::uint32_t most,
                            const std::optional<Done>& after = std::nullopt);

}  // namespace allot::queue
