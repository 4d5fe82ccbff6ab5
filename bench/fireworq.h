// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "bench/stage.h"

namespace allot::bench {

struct FireworqOptions {
  Place place;
  std::uint32_t rounds = 5;
  std::uint32_t tasks = 20'000;        // that are dispatched in each round
  std::uint32_t milliseconds = 2'000;  // of each side that pushes, and round
  std::uint32_t throttled = 10;        // seconds of each rate, once
  bool check = false;
  bool json = false;
};

// Pushes jobs by the API of Fireworq, and has the daemon dispatch them to a target that does
// nothing; beside it bare clients send the statements that Fireworq would, and the same requests.
// Then it counts how many jobs of a throttled queue start. Prints each ratio beside its floor, the
// medians of the rounds. Returns an exit code: with `check` a failure when a floor is not reached.
int fireworq(const FireworqOptions& options);

}  // namespace allot::bench
