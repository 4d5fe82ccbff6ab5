// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "ipc/board.h"

// The steward's part of the board: the last one, which no pool of a configuration can have. It has
// the bell that the steward sleeps on, what workers tell it in place of a pool's hints, and in
// place of its urgent ones a word for each pool.
namespace allot::peer {

inline ipc::PoolBoard& steward_part(ipc::Board& board) {
  return board.pools[ipc::kMaxPools - 1];
}

// When the workers of a pool look next whether one of its queues has a rate; CLOCK_MONOTONIC.
inline std::atomic<std::uint64_t>& next_rate_look(ipc::Board& board, std::size_t pool) {
  static_assert(ipc::kMaxUrgent >= ipc::kMaxPools - 1);
  return steward_part(board).urgent[pool % ipc::kMaxUrgent];
}

// A task that a worker put back because no handler there knows its type. As everything on the
// board it is a hint: the database has the type and the truth.
struct UnknownTask {
  std::uint32_t queue_id = 0, partition_no = 0, prio = 0;
  std::uint64_t first_key = 0;
};

// Workers say so each time; the board keeps the oldest task of a type in a queue. Where there is no
// room the task is not noted: it is put back again half a minute later.
void note_unknown(ipc::Board& board, const UnknownTask& task, std::string_view type);

// The steward takes them all.
std::vector<UnknownTask> take_unknown(ipc::Board& board);

}  // namespace allot::peer
