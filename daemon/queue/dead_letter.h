// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "db/connection.h"
#include "queue/catalog.h"
#include "queue/task.h"

// The dead tasks of a queue in bulk. inspect.h looks at single ones.
namespace allot::queue {

// A dead task without its payload, and with the beginning of its error only.
struct DeadLetter {
  TaskId id;
  std::string type;
  std::string cause;
  std::string error;
  std::string died_at;  // UTC, ISO 8601
};

// An error text without the parts that differ from task to task: its first line, with '#' for each
// word that has a digit and '...' for text in quotes; at most 200 bytes.
[[nodiscard]] std::string error_pattern(std::string_view error);

// One word for all dead tasks of a queue with the same type, cause and error pattern. It is the
// same on every host and in every version of the schema.
[[nodiscard]] std::string dead_group(std::string_view queue, const DeadLetter& letter);

// Calls `look` with each dead task of a queue in the order of their keys, in pages, until it
// returns false. A task that dies meanwhile may be missed.
void each_dead(db::Connection& db, const QueueInfo& queue,
               const std::function<bool(const DeadLetter&)>& look);

// Puts dead tasks back into their queue, due now, with all their attempts and their ids. Returns
// how many; it leaves out those that are not dead any more. Uses one transaction for each
// partition; may be repeated after a lost reply. At most kDeadBatch ids. In an ordered or limited
// queue that was resized since, a task goes where those of its key go now and gets another id:
// `moved` gets the old and the new one. Throws Error(kExitBadInput) for a task that died before the
// database kept the place of its key, in a queue that was resized since.
using MovedIds = std::vector<std::pair<TaskId, TaskId>>;
std::uint64_t retry_dead(db::Connection& db, std::span<const TaskId> ids,
                         MovedIds* moved = nullptr);

// Removes dead tasks and the records of their attempts for good. Otherwise like retry_dead.
std::uint64_t discard_dead(db::Connection& db, std::span<const TaskId> ids);

// The cause of a task that an operator took out.
inline constexpr std::string_view kCancelled = "cancelled";

// Makes the waiting task at `run_key` a dead one, with this reason as its error. False: the task is
// not there any more. A worker that leases the partition may still run it. May be repeated after a
// lost reply.
bool cancel(db::Connection& db, const TaskId& id, std::uint64_t run_key, std::string_view reason);

inline constexpr std::size_t kDeadBatch = 100;

}  // namespace allot::queue
