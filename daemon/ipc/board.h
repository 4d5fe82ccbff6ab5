// SPDX-License-Identifier: Apache-2.0
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
inline constexpr std::size_t kMaxHints = 512;
inline constexpr std::size_t kMaxUrgent = 16;
inline constexpr std::size_t kQueueWords = 16;
inline constexpr std::size_t kMaxUnknown = 170;

// A partition that probably has work (worker/lease/hints.h); 0 is none.
using Hint = std::uint64_t;

// Processes of the instance sleep on it.
struct Bell {
  std::atomic<std::uint32_t> rings;    // futex word
  std::atomic<std::uint32_t> waiters;  // 0: a submitter saves the system call
};

// State shared by the workers of one pool.
struct PoolBoard {
  Bell bell;
  // Queues that the pool serves: bit `id` modulo the number of bits. If two queues share a bit, the
  // price is a poll that finds nothing.
  std::atomic<std::uint64_t> queues[kQueueWords];
  std::atomic<std::uint64_t> next_scout_ns;  // CLOCK_MONOTONIC; the winner of a CAS scouts
  std::atomic<std::uint32_t> hint_count;
  std::atomic<std::uint32_t> hint_next;
  std::atomic<Hint> hints[kMaxHints];
  std::atomic<Hint> urgent[kMaxUrgent];  // freed by a settler: workers take these first
  std::atomic<std::uint32_t> urgent_count;
  // Input for the time of the next poll (worker/lease/polling.h), CLOCK_MONOTONIC: the interval,
  // the last poll, the last end of a lease of the pool, the last time a task was found without a
  // ring, and when the next task known to the last poll is due. standby_until_ns: one idle worker
  // wakes then for the next poll; the others stay asleep.
  std::atomic<std::uint64_t> scout_interval_ns, scouted_ns, lease_ended_ns, unrung_ns, next_due_ns,
      standby_until_ns;
  // Time of the next check whether one of the queues has a rate: CLOCK_MONOTONIC.
  std::atomic<std::uint64_t> next_rate_look_ns;
};

// A task that a worker deferred for lack of a handler (peer/steward_board.h).
struct UnknownRecord {
  std::atomic<std::uint64_t> kind;   // queue and type, as one hash; 0: the record is free
  std::atomic<std::uint64_t> place;  // queue, partition and priority
  std::atomic<std::uint64_t> key;    // 0: none yet
};

struct StewardBoard {
  Bell bell;
  UnknownRecord unknown[kMaxUnknown];
};

// NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): mapped over a file of zero bytes
struct Board {
  char magic[8];
  std::uint32_t version;
  PoolBoard pools[kMaxPools - 1];  // the last pool is the steward's
  StewardBoard steward;
};

}  // namespace allot::ipc
