// SPDX-License-Identifier: Apache-2.0
#include "peer/steward_board.h"

#include <cstddef>
#include <iterator>
#include <string>

#include "base/checksum.h"

namespace allot::peer {
namespace {

// Not 0, which marks an entry without a task.
std::uint64_t kind_of(std::uint32_t queue_id, std::string_view type) {
  Checksum sum;
  sum.add_part(std::to_string(queue_id));
  sum.add(type);
  return sum.value() | 1U;
}

constexpr std::uint64_t pack(const UnknownTask& task) {
  return (std::uint64_t{task.queue_id} << 32) |
         (std::uint64_t{task.partition_no & 0xffffffU} << 8) | (task.prio & 0xffU);
}

constexpr UnknownTask unpack(std::uint64_t place, std::uint64_t key) {
  return {static_cast<std::uint32_t>(place >> 32),
          static_cast<std::uint32_t>(place >> 8) & 0xffffffU,
          static_cast<std::uint32_t>(place) & 0xffU, key};
}

}  // namespace

void note_unknown(ipc::Board& board, const UnknownTask& task, std::string_view type) {
  auto& unknown = board.steward.unknown;
  const std::uint64_t task_kind = kind_of(task.queue_id, type);
  for (std::size_t tried = 0; tried < std::size(unknown); ++tried) {
    auto& [kind, place, key] = unknown[(task_kind + tried) % std::size(unknown)];
    std::uint64_t there = 0;
    const bool fresh = kind.compare_exchange_strong(there, task_kind);
    if (!fresh && there != task_kind) continue;
    const std::uint64_t known = key.load();
    if (!fresh && known != 0 && known <= task.first_key) return;
    place.store(pack(task));
    key.store(task.first_key);
    return;
  }
}

// A read between two writes gets the place of one task with the key of another: the database does
// not have such a task.
std::vector<UnknownTask> take_unknown(ipc::Board& board) {
  std::vector<UnknownTask> tasks;
  for (auto& [kind, place, key] : board.steward.unknown) {
    if (kind.load() == 0) continue;
    const std::uint64_t first_key = key.exchange(0);
    const std::uint64_t at = place.exchange(0);
    kind.store(0);
    if (first_key != 0) tasks.push_back(unpack(at, first_key));
  }
  return tasks;
}

}  // namespace allot::peer
