// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

#include "base/unique_fd.h"

namespace allot::worker {

// Of the tasks that an instance runs with care (S7) and that have an attempt behind them, one at a
// time: what takes its host down again and again takes no other with it, so that each of them is
// charged for itself. A lock on a file, which the kernel gives back for whoever dies.
class CarefulTurn {
 public:
  // `path`: made if it is missing. Throws Error.
  explicit CarefulTurn(const std::string& path);

  // Waits for the turn, and not for ever: somebody else's careful task may run for hours. Without
  // it (false) the task has to run beside others. Ends early when this worker is asked to leave.
  bool take(std::chrono::milliseconds patience);
  void give_back();  // nothing happens to a turn that was not taken

 private:
  UniqueFd file_;
};

}  // namespace allot::worker
