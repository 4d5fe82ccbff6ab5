// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "schedule/calendar.h"
#include "schedule/expression.h"

namespace allot::schedule {

// Next run of the schedule, strictly after that instant; nullopt if there is none within 50 years.
// A fixed time of day occurs once a day: if summer time skips it, at the end of the gap, and if it
// occurs twice, the first time. All other schedules run at each instant whose local time matches.
std::optional<Instant> next(const Expression& expression, const Zone& zone, Instant after);

// As in Calendar, by next().
std::vector<Instant> upcoming(const Expression& expression, const Zone& zone, Instant after,
                              Instant until, std::size_t most);
Missed missed(const Expression& expression, const Zone& zone, Instant after, Instant until,
              std::size_t most);

}  // namespace allot::schedule
