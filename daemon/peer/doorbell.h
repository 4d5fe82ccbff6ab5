// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>

#include "ipc/board.h"

// The bells of the board, one for each pool: submitters ring them, idle workers sleep on them.
namespace allot::peer {

// Maps the board behind a descriptor. nullptr when it is not a board of this version, or has no
// room.
ipc::Board* map_board(int fd);

// Why the board behind a descriptor cannot be used: it is of another Allot. nullptr: it can, or it
// is no board.
const char* trouble_with_board(int fd);

// For submitters who cannot say which queue has work: every pool is rung.
inline constexpr std::uint32_t kAnyQueue = 0;

// Workers say at their start which queues their pool serves, in place of what it served before.
void serve(ipc::PoolBoard& pool, std::span<const std::uint32_t> queue_ids);

// True while a worker that serves the queue has nothing to do.
bool waits_for(const ipc::Board& board, std::uint32_t queue_id);

// For submitters: wakes as many waiters as there are tasks, in each pool that serves the queue, and
// lets their next scout go at once.
void ring(ipc::Board& board, std::uint32_t queue_id, std::size_t tasks);

// What PoolBoard::next_scout_ns says until a scout has gone for an announce().
inline constexpr std::uint64_t kAnnounced = 1;

// The same for tasks that may become visible a moment later: the scout looks again within
// milliseconds where it finds none.
void announce(ipc::Board& board, std::uint32_t queue_id, std::size_t tasks);

// As ring(), for an instance on this host, by its runtime folder: `tasks` has how many may start
// now, by the id of their queue. If nobody runs there, nothing happens: the polling floor finds the
// tasks.
void ring_at(const char* runtime_dir, const std::map<std::uint32_t, std::size_t>& tasks);

// Wakes the steward of an instance on this host, which then looks for what somebody asked it for.
// If nobody runs there, nothing happens.
void ring_steward_at(const char* runtime_dir);

// Only wakes: a scout that published hints and a signal handler use it.
void wake(ipc::PoolBoard& pool, std::size_t count);

// Sleeps until the bell differs from `seen` or `timeout_ns` passed.
void wait_for_ring(ipc::PoolBoard& pool, std::uint32_t seen, std::uint64_t timeout_ns);

}  // namespace allot::peer
