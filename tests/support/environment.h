// SPDX-License-Identifier: Apache-2.0
// How large a test is, and which course a random one takes: for each change as its source says, and
// another one where an environment variable says so.
#pragma once

#include <concepts>
#include <cstdlib>

namespace allot::support {

// The number in the environment variable; `usually` where it is not set.
template <std::integral Number>
[[nodiscard]] Number environment_or(const char* variable, Number usually) {
  const char* text = std::getenv(variable);
  return text != nullptr ? static_cast<Number>(std::strtoull(text, nullptr, 10)) : usually;
}

}  // namespace allot::support
