// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <vector>

#include "fault/cluster.h"
#include "fault/evidence.h"

namespace allot::fault {

// What is measured beside the verdict: the server's counters and the memory of the processes.
class Meter {
 public:
  explicit Meter(Cluster& cluster) : cluster_(cluster) {}

  struct Counted {
    std::uint64_t deadlocks = 0;
    std::uint64_t timeouts = 0;    // waits for a row's lock that ended with error 1205
    std::uint64_t lock_waits = 0;  // all of them, most are over at once
    std::uint64_t waited_ms = 0;   // in all of these
  };
  struct Memory {
    Nanoseconds age = 0;  // how long it was looked at
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    std::uint64_t most = 0;
  };

  // Call it about once a second. What the server counted since the last call is `provoked` when a
  // fault held locks meanwhile, or kept a session from giving back its own.
  void sample(bool provoked);

  [[nodiscard]] const Counted& counted() const { return counted_; }
  [[nodiscard]] const Counted& provoked() const { return provoked_; }
  // The spans between two calls that were provoked, in order; each begins where another may have
  // ended.
  [[nodiscard]] const std::vector<std::pair<Nanoseconds, Nanoseconds>>& provoked_times() const {
    return provoked_times_;
  }
  // For the process that lived longest; `first` is its memory some seconds after its start.
  [[nodiscard]] Memory supervisor() const { return longest(supervisors_); }
  [[nodiscard]] Memory worker() const { return longest(workers_); }

 private:
  using Seen = std::map<pid_t, std::vector<std::pair<Nanoseconds, std::uint64_t>>>;
  static Memory longest(const Seen& seen);
  void read_counters(bool provoked);
  void read_memory();

  Cluster& cluster_;
  Nanoseconds last_at_ = now();
  Counted last_;
  Counted counted_;
  Counted provoked_;
  std::vector<std::pair<Nanoseconds, Nanoseconds>> provoked_times_;
  Seen supervisors_;
  Seen workers_;
  Nanoseconds next_memory_ = 0;
};

}  // namespace allot::fault
