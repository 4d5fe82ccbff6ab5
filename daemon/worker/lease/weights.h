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

// Order of the queues of a pool that has `weights` or is `strict`. Each worker counts its own
// leases, without coordination: if each keeps the ratio, all of them do. Only the finder uses it,
// in the worker's main thread.
class Weights {
 public:
  // Most pools have none: their workers follow hints in the order of the board.
  Weights() = default;
  // `queues` are the pool's queues, in its order. `phase` is any number: workers that start at the
  // same time, or repeatedly after a few leases, begin at different places of a round.
  Weights(const config::Pool& pool, std::span<const ServedQueue> queues, std::uint64_t phase);

  [[nodiscard]] bool none() const { return queues_.empty(); }

  // The queues, starting with the one whose turn it is.
  [[nodiscard]] std::vector<std::uint32_t> order() const;

  // This worker has leased a partition of that queue.
  void leased(std::uint32_t queue_id);

  // Hints for a scout's findings. Without weights, in their order. Else as many as the board has
  // room for: partitions of a queue keep the order in which they were found, and each queue gets
  // enough hints to last until the others have had their turn.
  [[nodiscard]] std::vector<ipc::Hint> hints(std::span<const queue::Partition> found) const;

 private:
  struct Weighted {
    std::uint32_t queue_id = 0;
    std::int64_t weight = 0;
    // Debt to the queue. Each lease gives every queue its weight and takes the sum of all weights
    // from the leased queue (a smooth weighted round robin).
    std::int64_t credit = 0;
  };

  [[nodiscard]] std::int64_t round() const;  // number of leases in a round: the sum of all weights
  [[nodiscard]] std::vector<std::size_t> turns() const;

  bool strict_ = false;
  std::vector<Weighted> queues_;
};

}  // namespace allot::worker
