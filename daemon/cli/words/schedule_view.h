// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "json/queue_json.h"

// Functions shared by the commands that show schedules.
namespace allot::cli {

using as_json::moment_text;
using as_json::span_text;
// A moment of a document; "-" for null.
[[nodiscard]] std::string moment_text(const nlohmann::json& moment);

// Path of a schedule: "/schedules/nightly". Throws Error(kExitBadInput) for an invalid name.
[[nodiscard]] std::string schedule_path(const std::string& name);

// "paused since ...: reason", "error since ...: why", "never again", or "on".
[[nodiscard]] std::string state_text(const nlohmann::json& schedule);

}  // namespace allot::cli
