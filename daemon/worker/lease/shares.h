// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "config/settings.h"
#include "ipc/board.h"
#include "queue/model/lease.h"
#include "worker/run/served_queue.h"

namespace allot::worker {

// Whose turn it is among the queues of a pool that has `weights` or is `strict`. Each worker counts
// its own leases, so that nothing has to be agreed on: where each keeps the ratio, all of them do.
// Only the finder uses it, in the worker's main thread.
class Shares {
 public:
  // Most pools have none: their workers follow hints in the order of the board.
  Shares() = default;
  // `queues` are those of the pool, in its order. `phase` is any number: workers that start at the
  // same time, or again and again after a few leases, begin at different places of a round.
  Shares(const config::Pool& pool, std::span<const ServedQueue> queues, std::uint64_t phase);

  [[nodiscard]] bool none() const { return queues_.empty(); }

  // The queues, the one whose turn it is first.
  [[nodiscard]] std::vector<std::uint32_t> order() const;

  // This worker has leased a partition of that queue.
  void leased(std::uint32_t queue_id);

  // Hints for what a scout found, as many as the board has room for: of each queue in the order in
  // which its partitions were found, and so many of each queue that none runs out of hints before
  // the others have had their turn.
  [[nodiscard]] std::vector<ipc::Hint> hints(std::span<const queue::Partition> found) const;

 private:
  struct Share {
    std::uint32_t queue_id = 0;
    std::int64_t weight = 0;
    // What the queue is owed. Each lease gives every queue its weight and takes the sum of all
    // weights from the queue that was leased (a smooth weighted round robin).
    std::int64_t credit = 0;
  };

  [[nodiscard]] std::int64_t round() const;  // the sum of all weights: so many leases
  [[nodiscard]] std::vector<std::size_t> turns() const;

  bool strict_ = false;
  std::vector<Share> queues_;
};

}  // namespace allot::worker
