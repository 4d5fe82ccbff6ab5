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
inline constexpr std::uint32_t kBoardVersion = 4;
inline constexpr std::size_t kMaxHints = 512;
inline constexpr std::size_t kMaxUrgent = 16;
inline constexpr std::size_t kQueueWords = 16;

// A partition that probably has work (worker/lease/hints.h); 0 is none.
using Hint = std::uint64_t;

// What the workers of one pool share.
struct PoolBoard {
  std::atomic<std::uint32_t> bell;     // futex word: each ring increments it
  std::atomic<std::uint32_t> waiters;  // a submitter makes no system call when nobody waits
  // The queues that the pool serves: bit `id` modulo the number of bits. A bit that two queues
  // share costs a look that finds nothing.
  std::atomic<std::uint64_t> queues[kQueueWords];
  std::atomic<std::uint64_t> next_scout_ns;  // CLOCK_MONOTONIC; whoever moves it on by CAS scouts
  std::atomic<std::uint32_t> hint_count;
  std::atomic<std::uint32_t> hint_next;
  std::atomic<Hint> hints[kMaxHints];
  std::atomic<Hint> urgent[kMaxUrgent];  // freed by a settler: workers take these first
  std::atomic<std::uint32_t> urgent_count;
  // By which a scout says how soon the next one goes (worker/lease/polling.h), CLOCK_MONOTONIC: the
  // interval, the last look, when a lease of the pool last ended, when a task was last found that
  // nothing rang for, and when the next task is due that the last look saw. standby_until_ns: one
  // idle worker wakes then for the next look, the others sleep on.
  std::atomic<std::uint64_t> scout_interval_ns, scouted_ns, lease_ended_ns, unrung_ns, next_due_ns,
      standby_until_ns;
};

// NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): mapped over a file of zero bytes
struct Board {
  char magic[8];
  std::uint32_t version;
  PoolBoard pools[kMaxPools];
};

}  // namespace allot::ipc
