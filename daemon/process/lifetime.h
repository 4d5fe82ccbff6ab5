// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/clock.h"
#include "config/settings.h"

namespace allot::process {

// Decides when a worker has run long enough (D4): after a number of tasks, after a time, or when it
// has grown too large, because handlers' leaks end with their process. It then asks itself to
// retire, as HUP does, so it leaves between two tasks and the supervisor starts another one in its
// place.
class Lifetime {
 public:
  // `pool` outlives this object. `random` is this worker's own: it reduces the limits of tasks and
  // time by up to a tenth, so that workers which started together do not leave together.
  Lifetime(const config::Pool& pool, std::uint64_t random);

  // Call it between two tasks and between two leases. It costs a clock read if the pool has a
  // limit, and reads the worker's size at most every 100 ms.
  void check();

  // Number of tasks that were started since the last call.
  void ran(std::size_t tasks) { tasks_ += tasks; }
  // Undoes the count for the last task, which had no handler.
  void ran_none() { --tasks_; }
  // Number of tasks that a call may have; at least 1.
  [[nodiscard]] std::size_t room() const;

  // The key of the limit that was reached; nullptr: none was.
  [[nodiscard]] const char* over() const { return over_; }

 private:
  [[nodiscard]] const char* reached();
  [[nodiscard]] bool too_large(Nanos now);

  const config::Pool& pool_;
  const std::uint64_t max_tasks_;
  const Nanos max_age_ns_;
  Nanos born_ns_ = 0;  // first check(): the start may have waited for a database
  std::uint64_t tasks_ = 0;
  std::uint64_t sized_at_ = 0;  // tasks_ at the last check of the size
  Nanos next_size_ns_ = 0;
  const char* over_ = nullptr;
};

// Resident memory of this process in MiB; 0 if the kernel does not report it.
[[nodiscard]] std::uint64_t resident_mib();

}  // namespace allot::process
