// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/random.h>

namespace allot::queue {

// Reads the kernel's generator, so that two processes forked from one get different numbers.
template <typename Number>
Number random_number() {
  Number value = 0;
  if (getrandom(&value, sizeof value, 0) != static_cast<ssize_t>(sizeof value)) value = 0;
  return value;
}

}  // namespace allot::queue
