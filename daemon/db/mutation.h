// SPDX-License-Identifier: Apache-2.0
#pragma once

#ifdef ALLOT_MUTATIONS
#include <cstdlib>
#include <string>
#include <string_view>
#endif

namespace allot::db {

// A build with -DALLOT_MUTATIONS=ON leaves out the one rule that $ALLOT_WITHOUT names, to show that
// a test notices (scripts/mutants has the list). In every other build this is false at compile
// time, and leaves no code.
#ifdef ALLOT_MUTATIONS
inline bool without(std::string_view rule) {
  static const char* const chosen = std::getenv("ALLOT_WITHOUT");
  return chosen != nullptr && rule == chosen;
}

// The statement `name` of sql/queries without that rule, if it is one that a statement keeps.
// "fence_NAME" leaves out the fence of that file. "epoch_end" makes the epoch all that S1 has:
// otherwise a free row has no holder, and every fence asks for one, and each of these makes up for
// an epoch that is kept. mutation.cc has the others.
std::string mutated(std::string_view name, std::string_view sql);
#else
constexpr bool without(const char* /*rule*/) {
  return false;
}
#endif

}  // namespace allot::db
