// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/clock.h"
#include "ipc/board.h"
#include "peer/steward_board.h"
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
  [[nodiscard]] std::vector<queue::TaskId> of(std::uint32_t queue_id) {
    std::vector<queue::TaskId> ids = all();
    std::erase_if(ids, [&](const auto& id) { return id.partition.queue_id != queue_id; });
    return ids;
  }
  [[nodiscard]] std::vector<queue::TaskId> all() {
    const Nanos now = boot_ns();
    for (const peer::UnknownTask& task : peer::take_unknown(board_)) {
      seen_ns_[{{task.queue_id, task.partition_no}, task.prio, task.first_key}] = now;
    }
    std::erase_if(seen_ns_, [&](const auto& seen) { return now - seen.second > kKeep; });
    std::vector<queue::TaskId> ids;
    for (const auto& [id, seen] : seen_ns_) ids.push_back(id);
    return ids;
  }

 private:
  static constexpr Nanos kKeep = 90 * kSecond;

  ipc::Board& board_;
  std::map<queue::TaskId, Nanos> seen_ns_;  // CLOCK_BOOTTIME
};

}  // namespace allot::steward
