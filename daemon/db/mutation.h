// SPDX-License-Identifier: Apache-2.0
#pragma once

#ifdef ALLOT_MUTATIONS
#include <string>
#endif
#include <string_view>

namespace allot::db {

#ifdef ALLOT_MUTATIONS
// The text `name` of sql/queries or sql/procedures without the rule that this run leaves out
// (base/mutant.h), if that rule is part of a statement. "fence_NAME" leaves out the fence of that
// file. "epoch_end" leaves the epoch as the only means of S1: otherwise a free row has no holder,
// and every fence requires one, and either of these compensates for an epoch that is kept.
// tests/mutants/mutation.cc has the others.
std::string mutated(std::string_view name, std::string_view sql);
#else
// Unchanged, in every other build.
constexpr std::string_view mutated(std::string_view /*name*/, std::string_view sql) {
  return sql;
}
#endif

}  // namespace allot::db
