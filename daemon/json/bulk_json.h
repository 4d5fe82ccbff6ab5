// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "queue/operate/bulk_action.h"

// Bulk actions as JSON, the same for `allot bulk --json` and the gateway.
namespace allot::as_json {

[[nodiscard]] nlohmann::json bulk_action(const queue::BulkAction& action);

}  // namespace allot::as_json
