// SPDX-License-Identifier: Apache-2.0
#pragma once

#ifdef ALLOT_MUTATIONS
#include <cstdlib>
#include <string_view>
#endif

namespace allot::mutant {

// Whether this run leaves out `rule`, to show that a test notices. A build with
// -DALLOT_MUTATIONS=ON leaves out the one rule that $ALLOT_WITHOUT names (scripts/mutants has the
// list). In every other build this is false at compile time and adds no code.
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

}  // namespace allot::mutant
