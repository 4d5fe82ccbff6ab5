// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

// Fields of a document that is read back. All throw nlohmann::json::exception for one of another
// form.
namespace allot::as_json {

// "": null, or left out.
inline std::string text_in(const nlohmann::json& document, const char* name) {
  const auto at = document.find(name);
  return at == document.end() || at->is_null() ? "" : at->get<std::string>();
}

// nullopt: null.
template <typename Value>
std::optional<Value> maybe_in(const nlohmann::json& document, const char* name) {
  const nlohmann::json& value = document.at(name);
  return value.is_null() ? std::nullopt : std::optional<Value>(value.get<Value>());
}

}  // namespace allot::as_json
