// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "metrics/page.h"

namespace allot::metrics {

// What the slots of the instance in this runtime folder say, and their meters. It costs the
// database nothing. Types that `types` names, or has a prefix of ("shop.*"), have series of their
// own; those of the others are summed by queue.
void add_slots(Page& page, const std::string& runtime_dir, const std::vector<std::string>& types);

}  // namespace allot::metrics
