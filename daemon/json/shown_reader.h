// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "json/task_json.h"

// Reads answers of a gateway: the reverse of task_json.h. All functions throw
// nlohmann::json::exception for another form, and Error for an invalid id.
namespace allot::as_json {

// Reads document(), except the payload, which is truncated text there.
[[nodiscard]] Shown shown_of(const nlohmann::json& document);

// Reads task(), one entry of a list.
[[nodiscard]] queue::TaskView task_of(const nlohmann::json& document);

// Reads done(), one entry of a list.
[[nodiscard]] queue::Done done_of(const nlohmann::json& document);

// Reads cancelled().
[[nodiscard]] queue::Cancelled cancelled_of(const nlohmann::json& document);

}  // namespace allot::as_json
