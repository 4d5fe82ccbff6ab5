// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <vector>

#include "fault/cluster.h"
#include "fault/evidence.h"

namespace allot::fault {

// Measures the server's counters and the memory of the processes, in addition to the verdict.
class Meter {
 public:
  explicit Meter(Cluster& cluster) : cluster_(cluster) {}

  struct Counted {
    std::uint64_t deadlocks = 0;
    std::uint64_t timeouts = 0;    // waits for a row lock that ended with error 1205
    std::uint64_t lock_waits = 0;  // all row lock waits; most are short
    std::uint64_t waited_ms = 0;   // total duration of these waits
  };
  struct Memory {
    Nanoseconds age = 0;  // duration of the observation
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    std::uint64_t most = 0;
  };

  // Call it about once a second. The server's counts since the last call are `provoked` if a fault
  // held locks in this time, or prevented a session from releasing its own.
  void sample(bool provoked);

  [[nodiscard]] const Counted& counted() const { return counted_; }
  [[nodiscard]] const Counted& provoked() const { return provoked_; }
  // Provoked periods between two calls, in order; each begins where another may have ended.
  [[nodiscard]] const std::vector<std::pair<Nanoseconds, Nanoseconds>>& provoked_times() const {
    return provoked_times_;
  }
  // For the process with the longest run; `first` is its memory some seconds after its start.
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
