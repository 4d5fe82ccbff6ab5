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
// compares the processor time that a task costs allotd's children; a processor's time means more
// than a rate where others share the machine. A worker counts nothing where its record cannot be
// made, so the daemon is the same one both times. Prints what counting costs, and which part of a
// drain that is, the processor time of workers and server; the medians of the rounds. Returns an
// exit code.
int counts(const CountsOptions& options);

}  // namespace allot::bench
