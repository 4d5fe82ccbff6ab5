// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "json/queue_json.h"
#include "queue/operate/bulk_action.h"

// What a gateway answered of anything but tasks, read back for texts: the other direction of
// queue_json.h and bulk_json.h. Numbers that only the database needs are 0. All throw
// nlohmann::json::exception for a document of another form, and Error for a word that is none of
// those that there are.
namespace allot::as_json {

[[nodiscard]] queue::QueueInfo queue_of(const nlohmann::json& document);

// The error of its newest task is the pattern of all.
[[nodiscard]] queue::DeadGroup dead_group_of(const nlohmann::json& document);

[[nodiscard]] queue::BulkAction bulk_action_of(const nlohmann::json& document);

[[nodiscard]] queue::Route route_of(const nlohmann::json& document);

[[nodiscard]] queue::LockSummary lock_summary_of(const nlohmann::json& document);
[[nodiscard]] queue::LockView lock_of(const nlohmann::json& document);

// With its payload, where the document has it.
[[nodiscard]] queue::Schedule schedule_of(const nlohmann::json& document);
[[nodiscard]] queue::ScheduleTick tick_of(const nlohmann::json& document);

}  // namespace allot::as_json
