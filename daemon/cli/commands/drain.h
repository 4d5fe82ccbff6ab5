// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "cli/sources/context.h"

namespace allot::cli {

struct DrainOptions {
  std::string queue;
  std::uint64_t max_tasks = 0;    // attempts; 0: no limit
  std::uint32_t max_seconds = 0;  // 0: no limit
  std::uint32_t jobs = 4;         // workers
  std::uint32_t at_most = 1;      // drains of this queue on this host
  bool json = false;
};

// allot drain starts an allotd of its own, which serves one queue until nothing is due there, or a
// limit is reached. The exit code is 0 if no attempt failed, 1 if some did or the drain was ended
// early, else that of the daemon.
int drain(const Context& context, const DrainOptions& options);

}  // namespace allot::cli
