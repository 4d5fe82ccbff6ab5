// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "db/connection.h"
#include "queue/model/catalog.h"
#include "queue/model/task.h"

// Queues of which only so many tasks run at a time in the whole cluster, without anybody counting
// them: each partition has a share of that number, and whoever leases it runs no more (S51,
// decision 0052). Those are the queues of Fireworq's programs.
namespace allot::queue {

// The share of one of `partitions`, `index` from 0: all of them together are `most`. A partition
// beyond them, which is being emptied, has 1.
[[nodiscard]] std::uint32_t share_of(std::uint32_t most, std::uint32_t partitions,
                                     std::uint32_t index);

struct CappedQueue {
  QueueInfo info;
  std::uint32_t most_running = 0;
};
[[nodiscard]] std::vector<CappedQueue> serve_fireworq(db::Connection& db);

struct Share {
  // So many tasks at a time. 0: nothing, because leases of before the queue was changed have it
  // all, or the queue is gone.
  std::uint32_t most = 0;
  bool paused = false;
  bool rated = false;
};
// What a lease of this partition may run, as the queue is now, besides what the other leases may.
// `published` is what the lease itself said it may run (FetchSpec::block_size), and the most.
[[nodiscard]] Share read_share(db::Connection& db, Partition partition, std::uint32_t published);

}  // namespace allot::queue
