// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

#include "base/unique_fd.h"

namespace allot::worker {

// Runs careful tasks (S7) with an earlier attempt one at a time in an instance. A task that
// repeatedly takes its host down then takes no other task with it, so each is charged only for
// itself. The turn is a lock on a file, which the kernel releases when its holder dies.
class CarefulTurn {
 public:
  // Opens the file at `path`, and creates it if missing. With an empty path there are no other
  // workers to wait for. Throws Error.
  explicit CarefulTurn(const std::string& path);

  // Waits for the turn, but not forever, because another worker's careful task may run for hours.
  // False: the task has to run next to others. Ends early when this worker is asked to leave.
  bool take(std::chrono::milliseconds patience);
  void end();  // without effect if the turn was not taken

 private:
  UniqueFd file_;
};

}  // namespace allot::worker
