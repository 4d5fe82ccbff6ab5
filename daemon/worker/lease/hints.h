// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "ipc/board.h"
#include "queue/model/lease.h"
#include "queue/verbs/lease_store.h"
#include "worker/lease/holder_watch.h"

// Hints on the board, by which the workers of a pool show each other where work is. For finders
// and settlers.
namespace allot::worker {

// Queue id and partition number.
inline constexpr ipc::Hint make_hint(std::uint32_t queue_id, std::uint32_t partition_no) {
  return (std::uint64_t{queue_id} << 16) | (partition_no & 0xffffU);
}
// Mark of a hint whose queue has a rate.
inline constexpr ipc::Hint kRatedHint = std::uint64_t{1} << 63;
// Mark of a hint to deferred tasks that have a handler here (S66).
inline constexpr ipc::Hint kDeferredHint = std::uint64_t{1} << 62;
inline constexpr std::uint32_t hint_queue(ipc::Hint hint) {
  return static_cast<std::uint32_t>(hint >> 16);
}
inline constexpr std::uint32_t hint_partition(ipc::Hint hint) {
  return static_cast<std::uint32_t>(hint & 0xffffU);
}

using LeaseWatch = HolderWatch<queue::Partition, queue::Observation>;

// A partition that a source of the finder offers: it probably has work.
struct Offer {
  queue::Partition partition;
  bool rated = false;     // its queue has a rate
  bool deferred = false;  // others put tasks back there that have a handler here
  std::optional<LeaseWatch::Still> stalled = {};  // its holder stalled: it is taken over (S4)
};

// nullopt for 0, which is not a hint.
inline std::optional<Offer> offer_of(ipc::Hint hint) {
  if (hint == 0) return std::nullopt;
  return Offer{{hint_queue(hint), hint_partition(hint)},
               (hint & kRatedHint) != 0,
               (hint & kDeferredHint) != 0};
}

// Takes one hint, urgent ones first; 0 if there is none.
ipc::Hint take_hint(ipc::PoolBoard& pool);

// Takes the oldest hint of the first of these queues that has one, except urgent hints; 0 if there
// is none. For pools with weights (weights.h).
ipc::Hint take_hint_of(ipc::PoolBoard& pool, std::span<const std::uint32_t> queue_ids);

// The first of these queues that has a hint; 0 if there is none.
std::uint32_t hinted_queue(const ipc::PoolBoard& pool, std::span<const std::uint32_t> queue_ids);

// Adds hints to the present ones, as far as there is room, the first one first.
void add_hints(ipc::PoolBoard& pool, std::span<const ipc::Hint> hints);

// Takes an urgent hint; 0 if there is none, which costs one load. Workers call it between two
// tasks.
ipc::Hint take_urgent(ipc::PoolBoard& pool);

// Replaces the hints by a scout's findings.
void publish_hints(ipc::PoolBoard& pool, const ipc::Hint* hints, std::size_t count);

// Puts a partition first in line; a settler does so for the partition that it just freed.
void push_urgent(ipc::PoolBoard& pool, ipc::Hint hint);

// True for exactly one caller per interval, the scout until next_scout_ns.
bool become_scout(ipc::PoolBoard& pool, std::uint64_t now_ns, std::uint64_t interval_ns);

// True for one of the workers that fall asleep now: it wakes for the next poll, at next_scout_ns.
// If it dies or has other work, another worker takes its place after that time. `until_ns` is the
// caller's memory of its stand-by; 0 at first.
bool stand_by(ipc::PoolBoard& pool, std::uint64_t now_ns, std::uint64_t& until_ns);

// The caller has other work now. If it was the stand-by, it rings the bell for a worker that takes
// its place, and the answer is true.
bool stand_down(ipc::PoolBoard& pool, std::uint64_t& until_ns);

// Moves the next poll to this time, unless it comes earlier.
void poll_by(ipc::PoolBoard& pool, std::uint64_t when_ns);

}  // namespace allot::worker
