// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

#include "base/unique_fd.h"

namespace allot::worker {

// Lets an instance run careful tasks (S7) that have an attempt behind them one at a time: a task
// that takes its host down again and again takes no other with it, so that each is charged only for
// itself. The turn is a lock on a file, which the kernel gives back when its holder dies.
class CarefulTurn {
 public:
  // Opens the file at `path`, and makes it if it is missing; an empty path: nobody else takes
  // turns. Throws Error.
  explicit CarefulTurn(const std::string& path);

  // Waits for the turn, but not for ever, because another worker's careful task may run for hours.
  // If it returns false, the task has to run beside others. Ends early when this worker is asked to
  // leave.
  bool take(std::chrono::milliseconds patience);
  void end();  // nothing happens to a turn that was not taken

 private:
  UniqueFd file_;
};

}  // namespace allot::worker
