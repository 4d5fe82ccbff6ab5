// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "log/log.h"
#include "process/session.h"
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

// As Session::call(), but throws a db::DbError that waiting does not fix: it ends the present step
// of a chore, and not the other chores.
template <typename Verb>
auto ask(process::Session& session, Verb&& verb) {
  return *session.call_while([] { return true; }, std::forward<Verb>(verb));
}

// Tries once, for a steward that leaves: a failure is only logged, as this event.
template <typename Verb>
void try_once(process::Session& session, const char* event, Verb&& verb) {
  try {
    session.call_while([] { return false; }, std::forward<Verb>(verb));
  } catch (const db::DbError& error) {
    log::warn(event, {{"error", error.what()}});
  }
}

}  // namespace allot::steward
