// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "db/connection.h"
#include "queue/model/catalog.h"
#include "queue/model/task.h"

// Shares of a queue's cap, which limits its running tasks in the whole cluster. Running tasks are
// not counted: each partition has a share of the cap, and its lease runs no more (S51, decision
// 0026).
namespace allot::queue {

// Part of the cap for partition `index` (from 0) of `partitions`: their sum is `cap`, or each has 1
// if there are more partitions. A retired partition, which is being emptied, has 1.
[[nodiscard]] std::uint32_t share_of(std::uint32_t cap, std::uint32_t partitions,
                                     std::uint32_t index);

struct CapPart {
  // Limit of running tasks. 0: leases from before the queue changed use all of it, or the queue is
  // gone.
  std::uint32_t most = 0;
  bool paused = false;
  bool rated = false;
  std::uint32_t cap = 0;  // of the queue
};
// Number of tasks that a lease of this partition may run, as the queue is now, besides the tasks of
// other leases. `published` is the lease's own limit (FetchSpec::block_size), and the maximum.
[[nodiscard]] CapPart read_cap_part(db::Connection& db, Partition partition,
                                    std::uint32_t published);

}  // namespace allot::queue
