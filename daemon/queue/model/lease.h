// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"
#include "queue/model/task.h"

namespace allot::queue {

// A process that takes leases: one random id per worker start (S2), and beside it names for people.
struct Holder {
  std::uint64_t id = 0;
  std::uint64_t origin = 0;  // this host, instance and runtime folder, for S11
  std::string host;
  std::string instance;
  std::uint32_t pid = 0;
};

// A holder of this process, of instance `instance` whose runtime folder is `runtime_dir`. `mark` is
// that of the instance's lock file (peer/lock_mark.h); 0: this process holds none, and no daemon
// that starts takes what it leases for its own.
Holder make_holder(const std::string& instance, const std::string& runtime_dir,
                   std::uint64_t mark = 0);

// A former holder was lost (S7): the first `per_class` tasks of each class with keys up to `to_key`
// may have been running. The lease marks them before any of its tasks starts.
struct Suspects {
  std::uint64_t to_key = 0;
  std::uint32_t per_class = 0;
};

// The time of a holder that knows of a later one than the database's clock, which was set back: see
// worker/lease/database_clock.h. Pauses begin at it, or at the clock once that is there again.
struct HolderTime {
  std::chrono::microseconds known{0};  // since 1970, at `at_ns`; 0: the clock is as late
  Nanos at_ns = 0;                     // CLOCK_BOOTTIME

  // Since 2025, as keys of tasks are; 0: the clock is as late.
  [[nodiscard]] std::chrono::microseconds now() const;
};

// A held partition. The epoch is the fence: every write but the plain acknowledgement names it.
struct Lease {
  Partition partition;
  std::uint64_t epoch = 0;
  std::uint64_t holder = 0;
  std::optional<Suspects> suspects;
  HolderTime time{};
};

// How long a partition of an ordered queue waits after a lease, and for which of its tasks: the
// wait ends with that task, whatever takes it away (S16).
struct Hold {
  std::chrono::microseconds pause{0};  // 0: none
  TaskKey task{};
  bool stays = false;  // as it was before the lease: an operator had it, and ran nothing
};

// Somebody's lease that is not free, as one look at the table showed it.
struct Observation {
  Partition partition;
  std::uint64_t epoch = 0;
  std::string expire_at;
  bool expired = false;                    // by the database's clock
  std::chrono::microseconds remaining{0};  // by the database's clock
  // How long it lasts without a renewal; nullopt: the row does not say.
  std::optional<std::chrono::microseconds> ttl;
  std::string holder;  // "host/instance/pid", for the log
};

}  // namespace allot::queue
