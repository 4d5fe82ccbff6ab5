// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "json/queue_json.h"
#include "queue/operate/bulk_action.h"

// Reads answers of a gateway except tasks: the reverse of queue_json.h and bulk_json.h. Numbers
// that only the database needs are 0. All functions throw nlohmann::json::exception for another
// form, and Error for an unknown word.
namespace allot::as_json {

[[nodiscard]] queue::QueueInfo queue_of(const nlohmann::json& document);

// Its error pattern is the error of its newest task.
[[nodiscard]] queue::DeadGroup dead_group_of(const nlohmann::json& document);

[[nodiscard]] queue::BulkAction bulk_action_of(const nlohmann::json& document);

[[nodiscard]] queue::Route route_of(const nlohmann::json& document);

[[nodiscard]] queue::LockSummary lock_summary_of(const nlohmann::json& document);
[[nodiscard]] queue::LockView lock_of(const nlohmann::json& document);

// Includes the payload if the document has it.
[[nodiscard]] queue::Schedule schedule_of(const nlohmann::json& document);
[[nodiscard]] queue::ScheduleTick tick_of(const nlohmann::json& document);

}  // namespace allot::as_json
