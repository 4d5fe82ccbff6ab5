// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "base/clock.h"

namespace allot::worker {

// How long the statements that took or renewed a lease were under way, of late: one slow answer is
// minded for a while, and not for ever.
class RoundTrips {
 public:
  static constexpr std::size_t kRemembered = 16;

  void add(Nanos trip) { last_[next_++ % kRemembered] = trip; }
  [[nodiscard]] Nanos slowest() const { return *std::max_element(last_.begin(), last_.end()); }

 private:
  std::array<Nanos, kRemembered> last_{};
  std::size_t next_ = 0;
};

// How much earlier than the lease itself its holder lets go of it. What it measures is how slow its
// own way to the database is; the tenth of the TTL is for clocks that run at different rates, and
// for a supervisor that kills at the deadline. At most half: renewals come at a third.
inline Nanos lease_margin(Nanos ttl, const RoundTrips& trips) {
  return std::min(ttl / 2, ttl / 10 + trips.slowest());
}

}  // namespace allot::worker
