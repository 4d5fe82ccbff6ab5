// SPDX-License-Identifier: Apache-2.0
#pragma once

#ifdef ALLOT_MUTATIONS
#include <cstdlib>
#include <string_view>
#endif

namespace allot::db {

// A build with -DALLOT_MUTATIONS=ON leaves out the one rule that $ALLOT_WITHOUT names, to show that
// the fault harness notices (scripts/mutants has the list). In every other build this is false at
// compile time, and leaves no code.
#ifdef ALLOT_MUTATIONS
inline bool without(std::string_view rule) {
  static const char* const chosen = std::getenv("ALLOT_WITHOUT");
  return chosen != nullptr && rule == chosen;
}
#else
constexpr bool without(const char* /*rule*/) {
  return false;
}
#endif

}  // namespace allot::db
