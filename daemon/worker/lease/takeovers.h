// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "base/clock.h"
#include "process/session.h"
#include "worker/lease/offer.h"
#include "worker/lease/served_queues.h"

namespace allot::worker {

// Source of the finder: leases whose holders stalled (S4).
class Takeovers {
 public:
  Takeovers(process::Session& session, ServedQueues& queues, Nanos ttl_ns)
      : session_(session), queues_(queues), watch_(session, ttl_ns) {}

  // Costs one read of the steward's page, unless it shows a stalled holder or cannot be used.
  void poll();
  // Each result once per poll.
  [[nodiscard]] std::optional<Offer> offer();
  [[nodiscard]] bool any() const { return watch_.any(); }
  // See HolderWatch.
  [[nodiscard]] bool by_steward() const { return watch_.by_steward(); }
  [[nodiscard]] std::optional<Nanos> next_poll_ns() const { return watch_.next_poll_ns(); }

 private:
  process::Session& session_;
  ServedQueues& queues_;
  LeaseWatch watch_;
};

}  // namespace allot::worker
