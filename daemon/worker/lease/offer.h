// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "queue/model/lease.h"
#include "queue/verbs/lease_store.h"
#include "worker/lease/grant.h"
#include "worker/lease/hints.h"
#include "worker/lease/holder_watch.h"

namespace allot::worker {

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

// A leased partition with its first block, and which of its tasks may start.
struct LeasedBlock {
  queue::Block block;
  Grant grant{};
  std::uint32_t cap_part = 0;  // tasks that may run at a time, in a capped queue; else 0
  bool deferred = false;       // see Offer
};

}  // namespace allot::worker
