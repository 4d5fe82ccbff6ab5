// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "db/connection.h"

// What becomes of lease rows besides leases: rows that are missing, and releases by a clock that
// was ahead. Any number of hosts may do this at once.
namespace allot::queue {

struct QueueHoles {
  std::uint32_t queue_id = 0;
  std::string queue;
  std::uint64_t missing = 0;  // lease rows
};
// Queues of which a lease row is missing: tasks of that partition wait until it is filled in (S59).
std::vector<QueueHoles> queue_holes(db::Connection& db);
// Fills them in, and returns them. They are leased once no holder of a deleted row can start a
// task.
std::vector<QueueHoles> fill_holes(db::Connection& db);

// Cuts the times of free partitions that were released by a clock that was ahead (S60). Returns how
// many there were.
std::size_t bound_releases(db::Connection& db);

}  // namespace allot::queue
