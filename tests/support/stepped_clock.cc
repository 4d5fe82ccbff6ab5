// SPDX-License-Identifier: Apache-2.0
#include "support/stepped_clock.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>

#include "base/unique_fd.h"

namespace allot::support {

SteppedClock::SteppedClock() {
  step_to(std::chrono::nanoseconds(0));
}

std::vector<std::string> SteppedClock::environment() const {
  return {std::string("LD_PRELOAD=") + ALLOT_STEPPED_CLOCK_LIBRARY,
          "ALLOT_STEPPED_CLOCK=" + (folder_ / "ahead")};
}

void SteppedClock::step_to(std::chrono::nanoseconds ahead) const {
  const std::string path = folder_ / "ahead";
  const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
  const std::int64_t number = ahead.count();
  if (!file.valid() || ::pwrite(file.get(), &number, sizeof number, 0) != sizeof number)
    throw std::system_error(errno, std::generic_category(), path);
}

}  // namespace allot::support
