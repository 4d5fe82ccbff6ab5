// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "base/clock.h"

namespace allot::worker {

// Duration of recent statements that took or renewed a lease: a slow answer counts for the next
// kRemembered calls, not forever.
class RoundTrips {
 public:
  static constexpr std::size_t kRemembered = 16;

  void add(Nanos trip) { last_[next_++ % kRemembered] = trip; }
  [[nodiscard]] Nanos slowest() const { return *std::max_element(last_.begin(), last_.end()); }

 private:
  std::array<Nanos, kRemembered> last_{};
  std::size_t next_ = 0;
};

// How much earlier than the lease itself its holder stops relying on it. The measured part covers a
// slow way to the database; the tenth of the TTL covers clocks that run at different rates and a
// supervisor that kills at the deadline. Half of the TTL at most, because renewals come at a third.
inline Nanos lease_margin(Nanos ttl, const RoundTrips& trips) {
  return std::min(ttl / 2, ttl / 10 + trips.slowest());
}

}  // namespace allot::worker
