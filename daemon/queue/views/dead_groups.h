// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "db/connection.h"
#include "queue/model/catalog.h"
#include "queue/model/dead_letter.h"
#include "queue/model/task_facts.h"

namespace allot::queue {

// The dead tasks of one type, cause and fault.
struct DeadGroup {
  DeadLetter newest;
  std::string oldest_died_at;  // UTC, ISO 8601
  BoundedCount tasks;
};
inline constexpr std::size_t kMostDeadGroups = 1'000;
struct DeadGroups {
  std::vector<DeadGroup> list;  // the largest first
  bool all = true;              // false: the queue has more groups than kMostDeadGroups
};
// Counts up to `bound` tasks of each group.
DeadGroups dead_groups(db::Connection& db, const QueueInfo& queue, std::uint64_t bound);

}  // namespace allot::queue
