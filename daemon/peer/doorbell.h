// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>

#include "base/clock.h"
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

// Value of PoolBoard::next_scout_ns from Ringer::announce() to the next poll.
inline constexpr std::uint64_t kAnnounced = 1;

// Rings the bells of an instance on this host. Any thread may use it.
class Ringer {
 public:
  // By queue id.
  using Tasks = std::map<std::uint32_t, std::size_t>;

  // For processes of the instance; the board outlives the ringer.
  explicit Ringer(ipc::Board& board) : board_(&board) {}
  // For other programs. Without a running instance in that folder (empty: none) a ring has no
  // effect: workers find the tasks at their next poll.
  explicit Ringer(std::string runtime_dir) : runtime_dir_(std::move(runtime_dir)) {}

  // Tasks may start now: wakes as many waiters as there are tasks, in each pool that serves their
  // queue, and makes its next poll due at once.
  void ring(const Tasks& tasks) const;
  // The same for tasks that may become visible a moment later: the scout polls again within
  // milliseconds if it finds none.
  void announce(const Tasks& tasks) const;
  // The steward then polls for requests.
  void ring_steward() const;
  // Clients that wait for this lock; only by the runtime folder.
  void ring_lock(const std::string& name) const;

 private:
  template <typename Use>
  void with_board(Use&& use) const;

  ipc::Board* board_ = nullptr;
  std::string runtime_dir_{};
};

// Only wakes; for a scout that published hints, and for a signal handler.
void wake(ipc::Bell& bell, std::size_t count);

// Sleeps until the bell differs from `seen` or the time has passed; a signal handler ends it, too.
void wait_for_ring(ipc::Bell& bell, std::uint32_t seen, Nanos timeout);

}  // namespace allot::peer
