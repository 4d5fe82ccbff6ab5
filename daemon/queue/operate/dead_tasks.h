// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "db/connection.h"
#include "queue/model/task.h"
#include "queue/submit/submit.h"

// Operator actions on dead tasks in bulk, which model/dead_letter.h pages through, and a task made
// from another one.
namespace allot::queue {

inline constexpr std::size_t kDeadBatch = 100;

// Puts dead tasks back into their queue, due now, with all attempts again and the same ids. Returns
// their number, without those that are not dead any more. One transaction per partition; may be
// repeated after a lost reply. At most kDeadBatch ids. In an ordered or limited queue that was
// resized since, a task goes to the partition that its key has now and gets another id: `moved`
// receives the old and the new one. Throws Error(kExitBadInput) for a task that died before the
// database kept the place of its key, in a queue that was resized since.
using MovedIds = std::vector<std::pair<TaskId, TaskId>>;
std::uint64_t retry_dead(db::Connection& db, std::span<const TaskId> ids,
                         MovedIds* moved = nullptr);

// Removes dead tasks and the records of their attempts permanently. Otherwise like retry_dead.
std::uint64_t discard_dead(db::Connection& db, std::span<const TaskId> ids);

// Submits `task`, which an operator made from the task `of`, with the entry of the audit in the
// same transaction. Throws like submit().
Submitted submit_again(db::Connection& db, const TaskId& of, const Submission& task);

// The statements of the first two, also for bulk_work.h.

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
