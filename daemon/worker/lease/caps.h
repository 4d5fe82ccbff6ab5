// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "base/clock.h"
#include "db/connection.h"
#include "worker/lease/offer.h"
#include "worker/lease/served_queues.h"
#include "worker/run/served_queue.h"

namespace allot::worker {

// Caps of queues (S51): what a lease may run at a time. Only the finder uses it.
class Caps {
 public:
  explicit Caps(ServedQueues& queues) : queues_(queues) {}

  // Number of tasks that a lease fetches at a time. In a capped queue this is the number that it
  // may run at a time, which its row shows to the other leases.
  [[nodiscard]] static std::uint32_t block_size(const ServedQueue& queue,
                                                queue::Partition partition);
  // The queue had no room for another lease a moment ago.
  [[nodiscard]] bool full(std::uint32_t queue_id);
  // A lease of a capped queue reads the parts of the others, once they can see it. Without room it
  // is given back at once, with its charge (S43): the next try is charged again.
  [[nodiscard]] std::optional<LeasedBlock> fit(db::Connection& db, const ServedQueue& queue,
                                               std::optional<LeasedBlock> found);
  // Whether a lease would get the same part if it were taken again, at a rate or without one.
  [[nodiscard]] static bool unchanged(db::Connection& db, const ServedQueue& queue,
                                      queue::Partition partition, std::uint32_t cap_part,
                                      bool rated);

 private:
  ServedQueues& queues_;
  std::map<std::uint32_t, Nanos> full_until_ns_;  // by queue; CLOCK_MONOTONIC
};

}  // namespace allot::worker
