// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "bench/stage.h"

namespace allot::bench {

struct CountsOptions {
  Place place;
  Load load;
  std::uint32_t rounds = 20;
  bool json = false;
};

// Drains no-op tasks with the counts of the workers (daemon/meter) and without them, in turns, and
// compares the processor time per task of allotd's children, which is more reliable than a rate on
// a shared machine. A worker counts nothing if its record cannot be created, so the daemon is the
// same both times. Prints the cost of counting and its part of a drain, the processor time of
// workers and server; medians of the rounds. Returns an exit code.
int counts(const CountsOptions& options);

}  // namespace allot::bench
