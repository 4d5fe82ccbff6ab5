// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "queue/views/health.h"

namespace allot::cli {

// One line for each process that leads duties, and one for duties without a leader. Empty: no
// duties.
std::string duties_text(const std::vector<queue::DutyView>& duties);

nlohmann::json duties_json(const std::vector<queue::DutyView>& duties);

}  // namespace allot::cli
