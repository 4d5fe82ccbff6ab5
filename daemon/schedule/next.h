// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "schedule/expression.h"
#include "schedule/zone.h"

namespace allot::schedule {

// When the schedule runs next, strictly after that instant; nothing if it does not within 50 years.
// A fixed time of day comes once a day: where summer time leaves it out, at the end of the gap, and
// where it comes twice, the first time. All others run at each instant whose local time fits.
std::optional<Instant> next(const Expression& expression, const Zone& zone, Instant after);

}  // namespace allot::schedule
