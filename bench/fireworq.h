// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "bench/stage.h"

namespace allot::bench {

struct FireworqOptions {
  Place place;
  std::uint32_t rounds = 5;
  std::uint32_t tasks = 20'000;        // dispatched in each round
  std::uint32_t milliseconds = 2'000;  // for each pushing side and round
  std::uint32_t throttled = 10;        // seconds for each rate, once
  bool check = false;
  bool json = false;
};

// Pushes jobs through the API of Fireworq, and lets the daemon dispatch them to a target that does
// nothing. For comparison, bare clients send the statements that Fireworq would send, and the same
// requests. Then it counts the started jobs of a throttled queue. Prints each ratio with its floor,
// medians of the rounds. Returns an exit code: with `check` a failure if a floor is not reached.
int fireworq(const FireworqOptions& options);

}  // namespace allot::bench
