// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "ipc/board.h"

// The board's bell: submitters ring it, idle workers sleep on it.
namespace allot::peer {

// Maps the board behind a descriptor. nullptr when it is not a board of this version, or has no
// room.
ipc::Board* map_board(int fd);

// For submitters: wakes up to `count` waiters and lets the next scout go at once.
void ring(ipc::Board& board, int count);

// The same for an instance on this host, by its runtime folder. If nobody runs there, nothing
// happens: the polling floor finds the tasks.
void ring_at(const char* runtime_dir, int count);

// Only wakes: a scout that published hints and a signal handler use it.
void wake(ipc::Board& board, int count);

// Sleeps until the bell differs from `seen` or `timeout_ns` passed.
void wait_for_ring(ipc::Board& board, std::uint32_t seen, std::uint64_t timeout_ns);

}  // namespace allot::peer
