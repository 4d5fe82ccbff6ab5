// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "bench/stage.h"

namespace allot::bench {

struct LatencyOptions {
  Place place;
  std::uint32_t tasks = 100;     // for each figure and round
  std::uint32_t gap_ms = 1'000;  // maximum between two submissions
  std::uint32_t workers = 2;
  std::uint32_t rounds = 1;
  bool json = false;
};

// Submits tasks one at a time, by SQL, the client library, HTTP and the command line, and measures
// when the handler of each starts: on the same host and on another one, with workers that poll and
// with workers that the binary log wakes. Prints quantiles in milliseconds. Returns an exit code.
int latency(const LatencyOptions& options);

}  // namespace allot::bench
