// SPDX-License-Identifier: Apache-2.0
#include "steward/unknown_tasks.h"

#include "peer/steward_board.h"

namespace allot::steward {
namespace {

constexpr Nanos kKeep = 90 * kSecond;

}  // namespace

void UnknownTasks::take() {
  const Nanos now = boot_ns();
  for (const peer::UnknownTask& task : peer::take_unknown(board_)) {
    seen_ns_[{{task.queue_id, task.partition_no}, task.prio, task.first_key}] = now;
  }
  std::erase_if(seen_ns_, [&](const auto& seen) { return now - seen.second > kKeep; });
}

std::vector<queue::TaskId> UnknownTasks::of(std::uint32_t queue_id) {
  std::vector<queue::TaskId> ids = all();
  std::erase_if(ids, [&](const auto& id) { return id.partition.queue_id != queue_id; });
  return ids;
}

std::vector<queue::TaskId> UnknownTasks::all() {
  take();
  std::vector<queue::TaskId> ids;
  for (const auto& [id, seen] : seen_ns_) ids.push_back(id);
  return ids;
}

}  // namespace allot::steward
