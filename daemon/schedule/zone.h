// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace allot::schedule {

// Seconds since 1970, in UTC.
using Instant = std::int64_t;

// Time zone as seen by next(). The instants of a local time follow from this one function: none in
// a gap, two in a fold.
class Zone {
 public:
  Zone() = default;
  Zone(const Zone&) = delete;
  Zone& operator=(const Zone&) = delete;
  virtual ~Zone() = default;
  // Offset of the zone's clocks from UTC at that instant, in seconds (positive: ahead).
  [[nodiscard]] virtual std::int64_t offset(Instant at) const = 0;
};

}  // namespace allot::schedule
