// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "bench/stage.h"

namespace allot::bench {

struct HttpWorkerOptions {
  Place place;
  std::uint32_t rounds = 5;
  std::uint32_t tasks = 9'600;         // for the waiting target; the other one gets twice as many
  std::uint32_t milliseconds = 2'000;  // for each bare side and round
  bool check = false;
  bool json = false;
};

// Drains tasks through the plugin http, 64 at a time in one worker, to a target that takes 20 ms
// and to one that answers at once. For comparison, sends the same requests over 64 bare
// connections. Prints the ratios, medians of the rounds. Returns an exit code: with `check` a
// failure if a ratio misses its floor.
int http_worker(const HttpWorkerOptions& options);

}  // namespace allot::bench
