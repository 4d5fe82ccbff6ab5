// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "db/connection.h"
#include "queue/model/catalog.h"
#include "queue/model/task.h"
#include "queue/model/task_facts.h"

// The dead tasks of a queue in bulk; task_facts.h shows single ones.
namespace allot::queue {

// A dead task without its payload and its error.
struct DeadLetter {
  TaskId id;
  std::string type;
  std::string cause;
  std::string fault;             // see model/error_text.h
  std::string group;             // hash of queue, type, cause and fault
  std::string died_at;           // UTC, ISO 8601
  std::uint64_t died_at_us = 0;  // the same time in microseconds since 1970
  bool ahead = false;            // later than the database's clock, which was set back
};

// At most `most` dead tasks of a queue after `after`, in the order of their keys.
std::vector<DeadLetter> page_dead(db::Connection& db, std::uint32_t queue_id, const TaskId& after,
                                  std::uint32_t most);

// A group has the dead tasks of one type, cause and fault. Counts up to `bound`.
BoundedCount count_group(db::Connection& db, const QueueInfo& queue, std::string_view group,
                         std::uint64_t bound);

struct DeadGroup {
  DeadLetter newest;
  std::string oldest_died_at;  // UTC, ISO 8601
  BoundedCount tasks;
};
struct DeadGroups {
  std::vector<DeadGroup> list;  // the largest first
  bool all = true;              // false: the queue has more than 1,000 groups
};
// Counts up to `bound` tasks of each group.
DeadGroups dead_groups(db::Connection& db, const QueueInfo& queue, std::uint64_t bound);

}  // namespace allot::queue
