// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace allot::bench {

// Calls `step` with 0 to `steps` - 1. Every other round runs in reverse order, so that the same
// step does not always meet the colder server.
template <typename Step>
void for_each_step(std::uint32_t round, int steps, const Step& step) {
  for (int i = 0; i < steps; ++i) step(round % 2 == 0 ? i : steps - 1 - i);
}

}  // namespace allot::bench
