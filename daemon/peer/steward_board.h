// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "ipc/board.h"

// Reports of workers to the steward of their host.
namespace allot::peer {

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
