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

// The tasks that workers of this host put back because no handler there knows their type, as the
// board tells: a worker says so each time, which is each half minute, and one that has not been
// named for longer than that is forgotten. Each time it is put back a task has a new key, so no
// look at the heads of partitions finds it; whoever put it back knows it by its id.
class UnknownTasks {
 public:
  explicit UnknownTasks(ipc::Board& board) : board_(board) {}

  // Of one queue, or of all. The database has the truth about them.
  [[nodiscard]] std::vector<queue::TaskId> of(std::uint32_t queue_id);
  [[nodiscard]] std::vector<queue::TaskId> all();

 private:
  void take();

  ipc::Board& board_;
  std::map<queue::TaskId, Nanos> seen_ns_;  // CLOCK_BOOTTIME
};

}  // namespace allot::steward
