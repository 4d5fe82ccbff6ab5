// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "metrics/page.h"

namespace allot::metrics {

// What the slots of the instance in this runtime folder say, and their meters. It costs the
// database nothing.
void add_slots(Page& page, const std::string& runtime_dir);

}  // namespace allot::metrics
