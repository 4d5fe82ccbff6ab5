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

// Drains tasks of a program in Python that does nothing, by the plugin pipe and by exec, tasks of a
// handler in C++ that does nothing, and beside them gives the same program the same lines without
// anything of Allot. Prints the ratios, the medians of the rounds. Returns an exit code: with
// `check` a failure when a ratio misses its floor.
int pipe_worker(const PipeWorkerOptions& options);

}  // namespace allot::bench
