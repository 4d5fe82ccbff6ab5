// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace allot::gateway::api {

// What is wrong with a value by a schema of openapi.json, as "/items/0/task: no string"; empty:
// nothing is. It knows the words that schemas.json uses, and refuses others.
std::string fault_of(const nlohmann::json& document, const nlohmann::json& schema,
                     const nlohmann::json& value, const std::string& at = {});

}  // namespace allot::gateway::api
