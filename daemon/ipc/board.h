// SPDX-License-Identifier: Apache-2.0
// Rule: S24.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "ipc/slot.h"

// The board: one small shared file per instance (0660). Every worker writes it, and every submitter
// on this host rings its bell. No reader trusts it: a wrong hint costs one statement that finds
// nothing.
namespace allot::ipc {

inline constexpr char kBoardMagic[8] = {'A', 'l', 'l', 'o', 't', 'B', 'r', 'd'};
inline constexpr std::uint32_t kBoardVersion = 5;
inline constexpr std::size_t kMaxHints = 512, kMaxUrgent = 16, kQueueWords = 16;

// A partition that probably has work (worker/lease/hints.h); 0 is none.
using Hint = std::uint64_t;

// Processes of the instance sleep on it.
struct Bell {
  // The futex word, and the number of sleepers; 0: a submitter saves the system call.
  std::atomic<std::uint32_t> rings, waiters;
};

// State shared by the workers of one pool.
struct PoolBoard {
  Bell bell;
  // Queues that the pool serves: bit `id` modulo the number of bits. If two queues share a bit, the
  // price is a poll that finds nothing.
  std::atomic<std::uint64_t> queues[kQueueWords];
  std::atomic<std::uint64_t> next_scout_ns;  // CLOCK_MONOTONIC; the winner of a CAS scouts
  std::atomic<std::uint32_t> hint_count, hint_next, urgent_count;
  std::atomic<Hint> hints[kMaxHints];
  std::atomic<Hint> urgent[kMaxUrgent];  // freed by a settler: workers take these first
  // Input for the time of the next poll (worker/lease/polling.h), CLOCK_MONOTONIC: the interval,
  // the last poll, the last end of a lease of the pool, the last time a task was found without a
  // ring, and when the next task known to the last poll is due. standby_until_ns: one idle worker
  // wakes then for the next poll; the others stay asleep. next_rate_poll_ns: the next check whether
  // one of the queues has a rate.
  std::atomic<std::uint64_t> scout_interval_ns, scouted_ns, lease_ended_ns, unrung_ns, next_due_ns,
      standby_until_ns, next_rate_poll_ns;
};

struct StewardBoard {
  Bell bell;
  // Tasks that workers deferred for lack of a handler (peer/steward_board.h): queue and type as one
  // hash (0: the record is free), the place, and the key (0: none yet).
  std::atomic<std::uint64_t> unknown[170][3];
};

// NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): mapped over a file of zero bytes
struct Board {
  char magic[8];
  std::uint32_t version;
  PoolBoard pools[kMaxPools - 1];  // the last pool is the steward's
  StewardBoard steward;
};

}  // namespace allot::ipc
