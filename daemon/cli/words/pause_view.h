// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "queue/model/catalog.h"

namespace allot::cli {

// "since 2026-...: reason", or "" for one that is not paused.
[[nodiscard]] std::string pause_text(const queue::QueueInfo& queue);
// {"since": ..., "reason": ...}, or null.
[[nodiscard]] nlohmann::json pause_json(const queue::QueueInfo& queue);
// {"per_second": ..., "burst": ...}, or null.
[[nodiscard]] nlohmann::json rate_json(const queue::QueueInfo& queue);

}  // namespace allot::cli
