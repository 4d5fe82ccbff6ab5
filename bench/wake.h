// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "bench/stage.h"

namespace allot::bench {

struct WakeOptions {
  Place place;
  Load load;
  std::uint32_t seconds = 10;        // for each measurement during writes
  std::uint32_t mb_per_second = 20;  // rate of the writer
  std::uint32_t rounds = 5;
  bool check = false;
  bool json = false;
};

// Cost of following the binary log: drains tasks with daemons that follow it and daemons that do
// not, in turns, and measures the processor time of idle ones while a client writes rows of another
// table. The server writes its log in either case. Returns an exit code.
int wake(const WakeOptions& options);

}  // namespace allot::bench
