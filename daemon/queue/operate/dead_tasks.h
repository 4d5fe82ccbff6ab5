// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "db/connection.h"
#include "queue/model/task.h"

// Operator actions on dead tasks in bulk; model/dead_letter.h pages through them.
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

}  // namespace allot::queue
