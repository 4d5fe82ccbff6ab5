// SPDX-License-Identifier: Apache-2.0
#pragma once

#ifdef ALLOT_MUTATIONS
#include <cstdlib>
#include <string_view>
#endif

// Counterpart of daemon/base/mutant.h, which plugins must not include.
namespace programs::mutant {

#ifdef ALLOT_MUTATIONS
inline bool removed(std::string_view rule) {
  static const char* const chosen = std::getenv("ALLOT_WITHOUT");
  return chosen != nullptr && rule == chosen;
}
#else
constexpr bool removed(const char* /*rule*/) {
  return false;
}
#endif

}  // namespace programs::mutant
