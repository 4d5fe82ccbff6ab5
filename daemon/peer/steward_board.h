// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "ipc/board.h"

// The steward's part of the board: the last one, which is never a configured pool's. It has the
// bell that the steward sleeps on, workers' reports in place of a pool's hints, and in place of
// urgent hints one word for each pool.
namespace allot::peer {

inline ipc::PoolBoard& steward_part(ipc::Board& board) {
  return board.pools[ipc::kMaxPools - 1];
}

// Time of the next check by the workers of a pool whether one of its queues has a rate;
// CLOCK_MONOTONIC.
inline std::atomic<std::uint64_t>& next_rate_look(ipc::Board& board, std::size_t pool) {
  static_assert(ipc::kMaxUrgent >= ipc::kMaxPools - 1);
  return steward_part(board).urgent[pool % ipc::kMaxUrgent];
}

// A task that a worker deferred because no handler there knows its type. Like the whole board it is
// a hint: the database has the type and the truth.
struct UnknownTask {
  std::uint32_t queue_id = 0, partition_no = 0, prio = 0;
  std::uint64_t first_key = 0;
};

// Workers report it each time; the board keeps the oldest task of a type in a queue. Without room
// the task is not recorded: it is deferred again half a minute later.
void note_unknown(ipc::Board& board, const UnknownTask& task, std::string_view type);

// Takes all reports; for the steward.
std::vector<UnknownTask> take_unknown(ipc::Board& board);

}  // namespace allot::peer
