// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "support/temp_dir.h"

namespace allot::support {

// Wall clock of a server (Database), with an offset from the machine's clock set by the test. Waits
// of the server keep their real duration.
class SteppedClock {
 public:
  SteppedClock();

  // Variables for the server's environment at its start.
  [[nodiscard]] std::vector<std::string> environment() const;
  // Sets the offset from the machine's clock; less than 0: behind it.
  void step_to(std::chrono::nanoseconds ahead) const;

 private:
  TempDir folder_;
};

}  // namespace allot::support
