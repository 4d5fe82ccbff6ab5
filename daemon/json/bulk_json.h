// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "queue/operate/bulk_action.h"

// A bulk action as JSON: what `allot bulk --json` prints is what the gateway answers.
namespace allot::as_json {

[[nodiscard]] nlohmann::json bulk_action(const queue::BulkAction& action);

}  // namespace allot::as_json
