// SPDX-License-Identifier: Apache-2.0
#include "worker/lease/takeovers.h"

#include <utility>
#include <vector>

namespace allot::worker {

void Takeovers::poll() {
  watch_.poll(
      [](const peer::StandingLease& one) -> std::optional<queue::Partition> {
        if ((one.flags & peer::StandingLease::kDetached) != 0) return std::nullopt;
        return queue::Partition{one.queue_id, one.partition_no};
      },
      [this](queue::Partition partition) { return queues_.find(partition.queue_id) != nullptr; },
      [this] {
        queues_.refresh(kSecond);
        std::vector<std::pair<queue::Partition, queue::Observation>> seen;
        for (queue::Observation& observed : session_.call(
                 [&](db::Connection& db) { return queue::LeaseStore::watch(db, queues_.ids()); })) {
          seen.emplace_back(observed.partition, std::move(observed));
        }
        return seen;
      });
}

std::optional<Offer> Takeovers::offer() {
  auto still = watch_.take();
  if (!still) return std::nullopt;
  Offer offer{still->observed.partition};
  offer.stalled = std::move(*still);
  return offer;
}

}  // namespace allot::worker
