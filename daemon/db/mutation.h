// SPDX-License-Identifier: Apache-2.0
#pragma once

#ifdef ALLOT_MUTATIONS
#include <string>
#include <string_view>

namespace allot::db {

// The statement `name` of sql/queries without the rule that this run leaves out (base/mutant.h), if
// it is one that a statement keeps. "fence_NAME" leaves out the fence of that file. "epoch_end"
// makes the epoch all that S1 has: otherwise a free row has no holder, and every fence asks for
// one, and each of these makes up for an epoch that is kept. mutation.cc has the others.
std::string mutated(std::string_view name, std::string_view sql);

}  // namespace allot::db
#endif
