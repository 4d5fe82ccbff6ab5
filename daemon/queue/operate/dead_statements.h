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

// The statements of dead_tasks.h and bulk_work.h. No other source includes this.
namespace allot::queue {

// Dead tasks of one partition that go back into one partition.
struct DeadTarget {
  Partition from;
  std::uint32_t to = 0;
  std::string placed_queue;  // the queue's number, or placed_queue.sql
  std::vector<TaskKey> keys;
};

using DeadKeys = std::map<Partition, std::vector<TaskKey>>;
[[nodiscard]] DeadKeys by_partition(std::span<const TaskId> ids);

// Where they go now, by the layout that the queue has now: the statements fail with kOutOfRange
// when it has another one by then. Throws Error(kExitBadInput) as retry_dead().
std::vector<DeadTarget> targets_of(db::Connection& db, Partition partition,
                                   const std::vector<TaskKey>& keys);

// The last one deletes the rows from task_dead. They want a new salt for each try.
std::array<db::Statement, 2> retry_statements(const DeadTarget& target, std::uint32_t salt);
db::Statement discard_statement(Partition partition, const std::vector<TaskKey>& keys);

// Adds the old and the new ids, if they get others.
void note_moved(const DeadTarget& target, MovedIds& moved);

}  // namespace allot::queue
