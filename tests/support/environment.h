// SPDX-License-Identifier: Apache-2.0
// Size and random course of a test: for each change as in its source, otherwise as in an
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
