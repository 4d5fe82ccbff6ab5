// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "bench/stage.h"

namespace allot::bench {

struct PipeWorkerOptions {
  Place place;
  std::uint32_t rounds = 5;
  std::uint32_t tasks = 60'000;
  std::uint32_t workers = 2;
  bool check = false;
  bool json = false;
};

// Drains no-op tasks of a Python program, by the plugin pipe and by exec, and no-op tasks of a C++
// handler. For comparison, gives the same program the same lines without Allot. Prints the ratios,
// medians of the rounds. Returns an exit code: with `check` a failure if a ratio misses its floor.
int pipe_worker(const PipeWorkerOptions& options);

}  // namespace allot::bench
