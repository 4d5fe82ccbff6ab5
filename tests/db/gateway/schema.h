// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace allot::gateway::api {

// Validates a value against a schema of openapi.json. Returns the error, as "/items/0/task: no
// string"; empty: valid. Supports the keywords used in schemas.json, and refuses others.
std::string fault_of(const nlohmann::json& document, const nlohmann::json& schema,
                     const nlohmann::json& value, const std::string& at = {});

}  // namespace allot::gateway::api
