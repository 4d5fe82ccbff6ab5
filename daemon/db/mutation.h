// SPDX-License-Identifier: Apache-2.0
#pragma once

#ifdef ALLOT_MUTATIONS
#include <string>
#endif
#include <string_view>

namespace allot::db {

#ifdef ALLOT_MUTATIONS
// The text `name` of sql/queries or sql/procedures without the rule that this run leaves out
// (base/mutant.h), if it is one that a statement keeps. "fence_NAME" leaves out the fence of that
// file. "epoch_end" makes the epoch all that S1 has: otherwise a free row has no holder, and every
// fence asks for one, and each of these makes up for an epoch that is kept. mutation.cc has the
// others.
std::string mutated(std::string_view name, std::string_view sql);
#else
// As it is, in every other build.
constexpr std::string_view mutated(std::string_view /*name*/, std::string_view sql) {
  return sql;
}
#endif

}  // namespace allot::db
