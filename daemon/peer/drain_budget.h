// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

// Common limit and counts of the workers of one `allot drain`, in a file that all of them map.
namespace allot::peer {

struct DrainBudget {
  std::atomic<std::int64_t> allowed;   // attempts that may still start
  std::atomic<std::uint64_t> started;  // attempts
  std::atomic<std::uint64_t> done;     // attempts whose tasks are finished
  std::atomic<std::uint64_t> failed;   // attempts that ended in a retry, as dead, or in a crash
};

// Creates a new file in place of an old one, and maps it. nullptr: errno has the reason.
DrainBudget* make_drain_budget(const std::string& path, std::int64_t allowed);

// Maps the file that another process made; nullptr: errno has the reason.
DrainBudget* map_drain_budget(const std::string& path);

// False: no further attempt may start.
bool take(DrainBudget& budget);
// Takes back an attempt that did not start after all.
void refund(DrainBudget& budget);

// Allows no further attempt.
void close(DrainBudget& budget);

}  // namespace allot::peer
