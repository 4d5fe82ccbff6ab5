// SPDX-License-Identifier: Apache-2.0
#include "db/gateway/schema.h"

#include <algorithm>
#include <regex>
#include <set>

namespace allot::gateway::api {
namespace {

using nlohmann::json;

bool is_of(const json& value, const std::string& type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "integer") return value.is_number_integer();
  if (type == "number") return value.is_number();
  if (type == "boolean") return value.is_boolean();
  if (type == "null") return value.is_null();
  return false;
}

std::string fault_of_object(const json& document, const json& schema, const json& value,
                            const std::string& at) {
  for (const json& name : schema.value("required", json::array())) {
    if (!value.contains(name)) return at + ": has no " + name.get<std::string>();
  }
  const json properties = schema.value("properties", json::object());
  for (const auto& [name, member] : value.items()) {
    if (properties.contains(name)) {
      const auto fault = fault_of(document, properties[name], member, at + "/" + name);
      if (!fault.empty()) return fault;
    } else if (!schema.value("additionalProperties", true)) {
      return at + ": " + name + " is not in the schema";
    }
  }
  return {};
}

std::string fault_of_text(const json& schema, const std::string& text, const std::string& at) {
  static const std::regex kMoment(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z)");
  if (schema.value("format", "") == "date-time" && !std::regex_match(text, kMoment)) {
    return at + ": no moment: " + text;
  }
  return {};
}

}  // namespace

std::string fault_of(const json& document, const json& schema, const json& value,
                     const std::string& at) {
  static const std::set<std::string> kWords{
      "$ref",    "anyOf",   "type",    "required",    "properties", "additionalProperties",
      "items",   "format",  "minimum", "description", "enum",       "const",
      "maximum", "examples"};
  for (const auto& [word, rest] : schema.items()) {
    if (!kWords.contains(word)) return at + ": the schema says " + word;
  }
  if (schema.contains("$ref")) {
    const std::string pointer = schema["$ref"].get<std::string>().substr(1);
    if (!document.contains(json::json_pointer(pointer))) return at + ": no schema " + pointer;
    return fault_of(document, document[json::json_pointer(pointer)], value, at);
  }
  if (schema.contains("anyOf")) {
    std::string faults;
    for (const json& one : schema["anyOf"]) {
      const std::string fault = fault_of(document, one, value, at);
      if (fault.empty()) return {};
      faults += (faults.empty() ? "" : " or ") + fault;
    }
    return faults;
  }
  if (schema.contains("const") && schema["const"] != value)
    return at + ": not " + schema["const"].dump();
  if (schema.contains("type")) {
    const json types = schema["type"].is_array() ? schema["type"] : json::array({schema["type"]});
    const bool one = std::any_of(types.begin(), types.end(),
                                 [&](const json& type) { return is_of(value, type); });
    if (!one) return at + ": is " + value.dump() + ", not " + types.dump();
  }
  if (schema.contains("enum")) {
    const json& words = schema["enum"];
    if (std::find(words.begin(), words.end(), value) == words.end()) {
      return at + ": " + value.dump() + " is none of " + words.dump();
    }
  }
  if (value.is_object()) return fault_of_object(document, schema, value, at);
  if (value.is_string()) return fault_of_text(schema, value, at);
  if (!value.is_array()) return {};
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (!schema.contains("items")) break;
    const auto fault = fault_of(document, schema["items"], value[i], at + "/" + std::to_string(i));
    if (!fault.empty()) return fault;
  }
  return {};
}

}  // namespace allot::gateway::api
