// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <vector>

#include "base/unique_fd.h"

namespace allot::fault {

// A process that cannot be mistaken for a later one with its number.
struct Target {
  pid_t pid = 0;
  UniqueFd handle{};  // a pidfd

  bool signal(int number) const;
  // True: it is over.
  [[nodiscard]] bool over(std::chrono::milliseconds deadline) const;
};

// The children of `parent` that run `allot-worker --run`.
std::vector<Target> workers_of(pid_t parent);

}  // namespace allot::fault
