// SPDX-License-Identifier: Apache-2.0
#include "cli/ndjson.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "cli/context.h"

namespace allot::cli {
namespace {

using nlohmann::json;

[[noreturn]] void refuse(const std::string& why) {
  throw Error(why, kExitBadInput);
}

std::string text_field(const json& object, const char* key) {
  const auto at = object.find(key);
  if (at == object.end()) refuse(std::string("'") + key + "' is missing");
  if (!at->is_string()) refuse(std::string("'") + key + "' must be a string");
  return at->get<std::string>();
}

}  // namespace

std::optional<Line> parse_line(const std::string& text) {
  if (text.find_first_not_of(" \t\r") == std::string::npos) return std::nullopt;
  json object;
  try {
    object = json::parse(text);
  } catch (const json::exception& error) {
    const std::string what = error.what();
    refuse("not JSON: " + what.substr(what.find("] ") + 2));
  }
  if (!object.is_object()) refuse("not a JSON object");
  for (const auto& [key, value] : object.items()) {
    if (key == "queue" || key == "type" || key == "payload" || key == "prio") continue;
    refuse("unknown field '" + key + "'" + did_you_mean(key, {"queue", "type", "payload", "prio"}));
  }
  Line line;
  line.queue = text_field(object, "queue");
  line.type = text_field(object, "type");
  if (const auto payload = object.find("payload"); payload != object.end()) {
    line.payload = payload->is_string() ? payload->get<std::string>() : payload->dump();
  }
  if (const auto prio = object.find("prio"); prio != object.end()) {
    if (!prio->is_number_unsigned() || *prio >= queue::kPrioClasses) {
      refuse("'prio' must be 0 (first) to 3");
    }
    line.prio = prio->get<std::uint32_t>();
  }
  return line;
}

}  // namespace allot::cli
