// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>

#include "ipc/board.h"

// The bells of the board, one for each pool: submitters ring them, idle workers sleep on them.
namespace allot::peer {

// Maps the board behind a descriptor. nullptr if it is not a board of this version, or lacks disk
// space.
ipc::Board* map_board(int fd);

// Why the board behind a descriptor cannot be used: another version of Allot made it. nullptr: it
// is usable, or not a board.
const char* trouble_with_board(int fd);

// For submitters that do not know which queue has work: every pool is rung.
inline constexpr std::uint32_t kAnyQueue = 0;

// Registers the queues of a pool, in place of the previous ones. Workers call it at their start.
void serve(ipc::PoolBoard& pool, std::span<const std::uint32_t> queue_ids);

// True while a worker that serves the queue is idle.
bool waits_for(const ipc::Board& board, std::uint32_t queue_id);

// For submitters: wakes as many waiters as there are tasks, in each pool that serves the queue, and
// makes its next poll due at once.
void ring(ipc::Board& board, std::uint32_t queue_id, std::size_t tasks);

// Value of PoolBoard::next_scout_ns from an announce() to the next poll.
inline constexpr std::uint64_t kAnnounced = 1;

// The same for tasks that may become visible a moment later: the scout polls again within
// milliseconds if it finds none.
void announce(ipc::Board& board, std::uint32_t queue_id, std::size_t tasks);

// As ring(), for an instance on this host, by its runtime folder: `tasks` maps a queue id to the
// number of tasks that may start now. Without a running instance it does nothing: the polling floor
// finds the tasks.
void ring_at(const char* runtime_dir, const std::map<std::uint32_t, std::size_t>& tasks);

// Wakes the steward of an instance on this host, which then polls for requests. Without a running
// instance it does nothing.
void ring_steward_at(const char* runtime_dir);

// Only wakes; for a scout that published hints, and for a signal handler.
void wake(ipc::Bell& bell, std::size_t count);

// Sleeps until the bell differs from `seen` or `timeout_ns` has passed.
void wait_for_ring(ipc::Bell& bell, std::uint32_t seen, std::uint64_t timeout_ns);

}  // namespace allot::peer
