// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "db/connection.h"

namespace allot::queue {

struct QueueInfo {
  std::uint32_t queue_id = 0;
  std::string name;
  std::uint32_t partitions = 0;  // the database owns this number (S17)
};

std::optional<QueueInfo> find_queue(db::Connection& db, std::string_view name);
std::vector<QueueInfo> list_queues(db::Connection& db);

// Makes the queue and its lease rows if they are missing; an existing queue keeps its partitions.
QueueInfo ensure_queue(db::Connection& db, std::string_view name, std::uint32_t partitions);

}  // namespace allot::queue
