// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "db/connection.h"
#include "queue/model/task.h"
#include "queue/operate/dead_tasks.h"

// The statements of dead_tasks.h and bulk_work.h. Not for other sources.
namespace allot::queue {

// Dead tasks of one partition that return to one partition.
struct DeadTarget {
  Partition from;
  std::uint32_t to = 0;
  std::string placed_queue;  // the queue's number, or placed_queue.sql
  std::vector<TaskKey> keys;
};

using DeadKeys = std::map<Partition, std::vector<TaskKey>>;
[[nodiscard]] DeadKeys by_partition(std::span<const TaskId> ids);

// Partitions where the tasks go by the current layout of the queue: the statements fail with
// kOutOfRange if the layout has changed by then. Throws Error(kExitBadInput) like retry_dead().
std::vector<DeadTarget> targets_of(db::Connection& db, Partition partition,
                                   const std::vector<TaskKey>& keys);

// The last one deletes the rows from task_dead. Each try needs a new salt.
std::array<db::Statement, 2> retry_statements(const DeadTarget& target, std::uint32_t salt);
db::Statement discard_statement(Partition partition, const std::vector<TaskKey>& keys);

// Adds the old and new ids, if the ids change.
void note_moved(const DeadTarget& target, MovedIds& moved);

}  // namespace allot::queue
