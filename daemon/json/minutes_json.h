// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "queue/minutes/failures.h"
#include "queue/minutes/instances.h"
#include "queue/minutes/minute_view.h"
#include "queue/minutes/type_hours.h"

// Minute counts of all instances, as shown by the command line and the gateway.
namespace allot::as_json {

[[nodiscard]] nlohmann::json minute(const queue::MinuteView& view, queue::MinutesBy by);
[[nodiscard]] nlohmann::json failure(const queue::FailureGroup& group);
[[nodiscard]] nlohmann::json type(const queue::TypeView& view);
[[nodiscard]] nlohmann::json deployment(const queue::Deployment& deployment);
[[nodiscard]] nlohmann::json instance(const queue::InstanceRow& row);

}  // namespace allot::as_json
