// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "queue/model/duty.h"

namespace allot::steward {

// Time until the next run of a chore: kDone for its interval, kMore if the run has more to do.
using Again = std::optional<Nanos>;
inline constexpr Again kDone = std::nullopt;
inline constexpr Again kMore = 0;

// At least a millisecond, so that the other chores run before.
inline Nanos time_until(Nanos at_ns) {
  const Nanos now = boot_ns();
  return std::max(at_ns, now + kMilli) - now;
}

// A recurring job of the steward: a row of the table that the loop runs (loop.h).
struct Chore {
  std::string name;                           // for the log
  std::vector<queue::DutyName> duties{};      // runs if this host leads one; empty: on every host
  Nanos every;                                // an hour and more: over all hosts, if it reports
  std::function<Again(bool fresh)> run_once;  // does a bounded step; `fresh`: the first of a run
  bool reports = true;    // writes results of its duties; false: another chore of the duty does
  bool at_drain = false;  // a drain runs it once more before it leaves
  std::function<bool()> rung{};   // true: due before its time
  std::function<void()> leave{};  // writes for the last time; tries once

  // State of the loop.
  Nanos next_ns = 0;       // CLOCK_BOOTTIME
  bool under_way = false;  // the last step was not the last one of its run
  std::uint64_t term = 0;  // that the run belongs to, see Leadership::term()
};

}  // namespace allot::steward
