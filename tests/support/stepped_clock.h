// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "support/temp_dir.h"

namespace allot::support {

// A wall clock for a server of its own (Database), which differs from the machine's by as much as a
// test says. What the server waits for takes as long as ever.
class SteppedClock {
 public:
  SteppedClock();

  // What the server has to find in its environment when it starts.
  [[nodiscard]] std::vector<std::string> environment() const;
  // From now on it is ahead of the machine's by so much; less than 0: behind it.
  void step_to(std::chrono::nanoseconds ahead) const;

 private:
  TempDir folder_;
};

}  // namespace allot::support
