// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "bench/stage.h"

namespace allot::bench {

struct IdleOptions {
  Place place;
  std::vector<std::uint32_t> workers{8, 64, 200};
  std::uint32_t seconds = 20;
  std::uint32_t rounds = 5;
  bool json = false;
};

// Starts idle daemons with one queue and each of these numbers of workers, and measures the
// statements received by the server and the processor time of daemon and server. Prints the medians
// of the rounds, and the cost of the last number relative to the first. Returns an exit code.
int idle(const IdleOptions& options);

}  // namespace allot::bench
