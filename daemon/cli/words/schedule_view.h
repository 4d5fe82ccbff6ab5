// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "json/queue_json.h"
#include "queue/schedules/schedule.h"

// Functions shared by the commands that show schedules.
namespace allot::cli {

using as_json::moment_text;
using as_json::span_text;
// "-" for a missing moment.
[[nodiscard]] std::string moment_text(const std::optional<queue::Moment>& moment);

// "paused since ...: reason", "error since ...: why", "never again", or "on".
[[nodiscard]] std::string state_text(const queue::Schedule& schedule);

}  // namespace allot::cli
