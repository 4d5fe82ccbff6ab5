// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "schedule/calendar.h"
#include "schedule/expression.h"
#include "schedule/zone.h"

namespace allot::schedule {

// As in Calendar, by next().
std::vector<Instant> upcoming(const Expression& expression, const Zone& zone, Instant after,
                              Instant until, std::size_t most);
Missed missed(const Expression& expression, const Zone& zone, Instant after, Instant until,
              std::size_t most);

}  // namespace allot::schedule
