// SPDX-License-Identifier: Apache-2.0
// Size of a test and course of a random one: the default in its source, or the value of an
// environment variable.
#pragma once

#include <concepts>
#include <cstdlib>

namespace allot::support {

// The number in the environment variable; `usually` if it is not set.
template <std::integral Number>
[[nodiscard]] Number environment_or(const char* variable, Number usually) {
  const char* text = std::getenv(variable);
  return text != nullptr ? static_cast<Number>(std::strtoull(text, nullptr, 10)) : usually;
}

}  // namespace allot::support
