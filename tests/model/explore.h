// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "model/state.h"

namespace allot::model {

struct Findings {
  std::size_t states = 0;
  std::size_t steps = 0;
  bool whole = false;                // every reachable state was seen
  Broken broken = Broken::kNothing;  // the first one found, with the shortest path
  std::size_t dead_ends = 0;         // states from which no fault-free run ends
  std::string story;                 // the steps to the broken state or to a dead end
};

// Breadth-first search over every state that `scenario` can reach; stops at the first broken
// invariant, or at `most` states.
Findings explore(const Scenario& scenario, std::size_t most);

const char* name_of(Broken broken);

}  // namespace allot::model
