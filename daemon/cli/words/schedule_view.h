// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "queue/schedules/schedule.h"

// Functions that the commands which show schedules share.
namespace allot::cli {

// "2026-11-24T02:15:00Z", with a fraction where it has one.
[[nodiscard]] std::string moment_text(queue::Moment moment);
// The same, or "-" and null.
[[nodiscard]] std::string moment_text(const std::optional<queue::Moment>& moment);
[[nodiscard]] nlohmann::json moment_json(const std::optional<queue::Moment>& moment);

// "paused since ...: reason", "error since ...: why", "never again", or "on".
[[nodiscard]] std::string state_text(const queue::Schedule& schedule);

// All of it but the payload, which a list does not have.
[[nodiscard]] nlohmann::json schedule_json(const queue::Schedule& schedule);
[[nodiscard]] nlohmann::json tick_json(const queue::ScheduleTick& tick);

// "90s", "500us".
[[nodiscard]] std::string span_text(std::chrono::microseconds span);

}  // namespace allot::cli
