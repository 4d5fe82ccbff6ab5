// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "base/clock.h"
#include "ipc/board.h"
#include "queue/model/task.h"

namespace allot::steward {

// Tasks that workers of this host deferred because no handler there knows their type, from the
// board: a worker reports a task each time, which is every half minute, and a task without a report
// for longer is dropped. A deferred task gets a new key each time, so a search at the heads of
// partitions does not find it; the worker that deferred it knows its id.
class UnknownTasks {
 public:
  explicit UnknownTasks(ipc::Board& board) : board_(board) {}

  // For one queue, or for all. The database has the truth about them.
  [[nodiscard]] std::vector<queue::TaskId> of(std::uint32_t queue_id);
  [[nodiscard]] std::vector<queue::TaskId> all();

 private:
  void take();

  ipc::Board& board_;
  std::map<queue::TaskId, Nanos> seen_ns_;  // CLOCK_BOOTTIME
};

}  // namespace allot::steward
