// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "ipc/board.h"

// The workers of a pool tell each other on the board where work is.
namespace allot::worker {

// Queue id and partition number.
inline constexpr ipc::Hint make_hint(std::uint32_t queue_id, std::uint32_t partition_no) {
  return (std::uint64_t{queue_id} << 16) | (partition_no & 0xffffU);
}
// The mark of a hint whose queue has a rate.
inline constexpr ipc::Hint kRatedHint = std::uint64_t{1} << 63;
// The mark of a hint to tasks that were put back and have a handler here (S66).
inline constexpr ipc::Hint kDeferredHint = std::uint64_t{1} << 62;
inline constexpr std::uint32_t hint_queue(ipc::Hint hint) {
  return static_cast<std::uint32_t>(hint >> 16);
}
inline constexpr std::uint32_t hint_partition(ipc::Hint hint) {
  return static_cast<std::uint32_t>(hint & 0xffffU);
}

// Takes one hint, urgent ones first; 0 when there is none.
ipc::Hint take_hint(ipc::PoolBoard& pool);

// Takes the oldest hint of the first of these queues that has one, but for urgent ones; 0 when none
// of them has any. For pools with shares (shares.h).
ipc::Hint take_hint_of(ipc::PoolBoard& pool, std::span<const std::uint32_t> queue_ids);

// The first of these queues that has a hint; 0: none of them.
std::uint32_t hinted_queue(const ipc::PoolBoard& pool, std::span<const std::uint32_t> queue_ids);

// Puts hints beside those that are there, as far as there is room, the first one first.
void add_hints(ipc::PoolBoard& pool, std::span<const ipc::Hint> hints);

// Takes an urgent hint; 0 when there is none, which costs one load. Workers call it between two
// tasks.
ipc::Hint take_urgent(ipc::PoolBoard& pool);

// Replaces the hints by a scout's findings.
void publish_hints(ipc::PoolBoard& pool, const ipc::Hint* hints, std::size_t count);

// Puts a partition first in line; a settler does so for the partition that it just freed.
void push_urgent(ipc::PoolBoard& pool, ipc::Hint hint);

// True for exactly one caller per interval: that one is the scout until next_scout_ns.
bool become_scout(ipc::PoolBoard& pool, std::uint64_t now_ns, std::uint64_t interval_ns);

// True for one of those that go to sleep now: that one wakes for the next look, at next_scout_ns.
// Where it dies or has other work, another one takes its place after its time. `until_ns` is the
// caller's memory of when it stands by; 0 at first.
bool stand_by(ipc::PoolBoard& pool, std::uint64_t now_ns, std::uint64_t& until_ns);

// The caller has other work now. If it stood by, it rings the bell for another worker that takes
// its place, and the answer is true.
bool stand_down(ipc::PoolBoard& pool, std::uint64_t& until_ns);

// The next scout goes by then at the latest.
void look_again_by(ipc::PoolBoard& pool, std::uint64_t when_ns);

}  // namespace allot::worker
