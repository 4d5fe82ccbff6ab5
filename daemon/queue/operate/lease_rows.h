// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "db/connection.h"

// Repairs of lease rows: missing rows, and releases by a clock that was ahead. Any number of hosts
// may call this concurrently.
namespace allot::queue {

struct QueueHoles {
  std::uint32_t queue_id = 0;
  std::string queue;
  std::uint64_t missing = 0;  // lease rows
};
// Queues with missing lease rows: tasks of such a partition wait until the row is filled in (S59).
std::vector<QueueHoles> queue_holes(db::Connection& db);
// Fills in the rows and returns the queues. A new row is leased only after no holder of the deleted
// row can start a task.
std::vector<QueueHoles> fill_holes(db::Connection& db);

// Shortens the times of free partitions that were released by a clock that was ahead (S60). Returns
// their number.
std::size_t bound_releases(db::Connection& db);

}  // namespace allot::queue
