// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"
#include "queue/model/task.h"

namespace allot::queue {

template <typename Rep, typename Period>
constexpr Nanos in_ns(std::chrono::duration<Rep, Period> span) {
  return static_cast<Nanos>(span.count()) * (kSecond * Period::num / Period::den);
}

// A process that takes leases: one random id per worker start (S2), and names for people.
struct Holder {
  std::uint64_t id = 0;
  std::uint64_t origin = 0;  // this host, instance and runtime folder, for S11
  std::string host;
  std::string instance;
  std::uint32_t pid = 0;
};

// A holder of this process, of instance `instance` with runtime folder `runtime_dir`. `mark` is the
// mark of the instance's lock file (peer/lock_mark.h); 0: this process has none, so no daemon takes
// over its leases at start.
Holder make_holder(const std::string& instance, const std::string& runtime_dir,
                   std::uint64_t mark = 0);

// A former holder was lost (S7): the first `per_class` tasks of each class with keys up to `to_key`
// may have been running. The lease marks them before any of its tasks starts.
struct Suspects {
  std::uint64_t to_key = 0;
  std::uint32_t per_class = 0;
};

// Time of a holder that has seen a later time than the database's clock, which was set back: see
// worker/lease/database_clock.h. Pauses begin at this time, or at the clock once it has caught up.
struct HolderTime {
  std::chrono::microseconds known{0};  // since 1970, at `at_ns`; 0: not ahead of the clock
  Nanos at_ns = 0;                     // CLOCK_BOOTTIME

  // Since 2025, like the keys of tasks; 0: not ahead of the clock.
  [[nodiscard]] std::chrono::microseconds now() const;
};

// A held partition. The epoch is the fence: every write except the plain acknowledgement names it.
struct Lease {
  Partition partition;
  std::uint64_t epoch = 0;
  std::uint64_t holder = 0;
  std::optional<Suspects> suspects;
  HolderTime time{};
};

// How long a partition of an ordered queue waits after a lease, and for which of its tasks: the
// wait also ends when that task is removed by any means (S16).
struct Deferral {
  std::chrono::microseconds delay{0};  // 0: none
  TaskKey task{};
  bool stays = false;  // keeps the wait from before the lease, in which nothing ran
};

// The term of another holder, from one read of its row.
struct ObservedTerm {
  std::uint64_t epoch = 0;
  std::string expire_at;
  bool expired = false;                    // by the database's clock
  std::chrono::microseconds remaining{0};  // by the database's clock
  // Duration without a renewal; nullopt: not in the row.
  std::optional<std::chrono::microseconds> ttl;
  std::string holder;  // "host/instance/pid", for the log
};

// A lease that is not free.
struct Observation : ObservedTerm {
  Partition partition;

  [[nodiscard]] const Partition& key() const { return partition; }
};

}  // namespace allot::queue
