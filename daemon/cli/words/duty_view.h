// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "queue/look/health.h"

namespace allot::cli {

// A line for each process that leads some, and one for those that nobody leads. Empty: there are no
// duties.
std::string duties_text(const std::vector<queue::DutyView>& duties);

nlohmann::json duties_json(const std::vector<queue::DutyView>& duties);

}  // namespace allot::cli
