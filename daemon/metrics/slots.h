// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "metrics/page.h"

namespace allot::metrics {

// Adds the state of the instance's slots in this runtime folder, and their meters, without a query
// to the database. Types that `types` names, or has a prefix of ("shop.*"), have their own series;
// the others are summed by queue.
void add_slots(Page& page, const std::string& runtime_dir, const std::vector<std::string>& types);

}  // namespace allot::metrics
