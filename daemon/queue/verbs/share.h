// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "db/connection.h"
#include "queue/model/catalog.h"
#include "queue/model/task.h"

// Of a queue with a cap only so many tasks run at a time in the whole cluster, and no count of them
// is kept: each partition has a share of the cap, and a lease of it runs no more (S51, decision
// 0026).
namespace allot::queue {

// The share of one of `partitions`, `index` from 0: all of them together are `cap`, or where there
// are more partitions each is 1. A partition beyond them, which is being emptied, has 1.
[[nodiscard]] std::uint32_t share_of(std::uint32_t cap, std::uint32_t partitions,
                                     std::uint32_t index);

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
