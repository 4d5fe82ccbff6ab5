// SPDX-License-Identifier: Apache-2.0
// How large a randomised test is: for each change small, and larger where the environment says so.
#pragma once

#include <cstdlib>

namespace allot::e2e {

// What the environment variable says, for a longer run.
inline int size_of(const char* variable, int usually) {
  const char* text = std::getenv(variable);
  return text != nullptr ? std::atoi(text) : usually;
}

}  // namespace allot::e2e
