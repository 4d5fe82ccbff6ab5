// SPDX-License-Identifier: Apache-2.0
#include "worker/lease/caps.h"

#include <algorithm>

#include "base/mutant.h"
#include "queue/verbs/block.h"
#include "queue/verbs/cap_part.h"

namespace allot::worker {
namespace {

// A capped queue had no room for another lease: its other leases are older than the change of the
// cap.
constexpr Nanos kFull = 50 * kMilli;

}  // namespace

std::uint32_t Caps::block_size(const ServedQueue& queue, queue::Partition partition) {
  const std::uint32_t most = queue.settings->block_size;
  if (!queue.capped()) return most;
  return std::min(most, queue::share_of(queue.info.cap, queue.info.partitions(),
                                        partition.partition_no - queue.info.first_partition));
}

bool Caps::full(std::uint32_t queue_id) {
  const auto full = full_until_ns_.find(queue_id);
  if (full == full_until_ns_.end()) return false;
  if (mono_ns() < full->second) return true;
  full_until_ns_.erase(full);
  return false;
}

std::optional<LeasedBlock> Caps::fit(db::Connection& db, const ServedQueue& queue,
                                     std::optional<LeasedBlock> found) {
  if (!found) return found;
  const queue::Partition partition = found->block.lease.partition;
  const std::uint32_t cap = found->block.cap;
  if (cap != queue.info.cap) queues_.set_cap(partition.queue_id, cap);
  if (cap == 0 && !queue.capped()) return found;
  // The lease was taken with old information about the cap: the next one has the new cap.
  const bool known = cap != 0 && queue.capped();
  const std::uint32_t published = block_size(queue, partition);
  if (known) {
    found->cap_part = mutant::removed("share_of_others")
                          ? published
                          : queue::read_cap_part(db, partition, published).most;
  }
  if (found->cap_part > 0) return found;
  queue::ack_and_release(db, found->block.lease, {}, {}, found->grant.unused(boot_ns()));
  if (known) full_until_ns_[partition.queue_id] = mono_ns() + kFull;
  return std::nullopt;
}

bool Caps::unchanged(db::Connection& db, const ServedQueue& queue, queue::Partition partition,
                     std::uint32_t cap_part, bool rated) {
  const queue::CapPart now = queue::read_cap_part(db, partition, block_size(queue, partition));
  // A cap that grew is larger than the limit of this lease shows.
  return now.cap == queue.info.cap && now.most == cap_part && !now.paused && now.rated == rated;
}

}  // namespace allot::worker
