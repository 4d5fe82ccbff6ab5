// SPDX-License-Identifier: Apache-2.0
#include "json/fields.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "json/printable.h"

namespace allot::as_json {
namespace {

constexpr std::size_t kShownText = 60;

[[noreturn]] void refuse(const std::string& field, const std::string& text, const char* why) {
  throw Error("'" + field + "' is \"" + printable(text, kShownText) + "\": " + why, kExitBadInput);
}

}  // namespace

using nlohmann::json;

std::string text_in(const json& document, const char* name) {
  const auto at = document.find(name);
  return at == document.end() || at->is_null() ? "" : at->get<std::string>();
}

json or_null(const std::string& text) {
  return text.empty() ? json() : json(text);
}

json or_null(const std::optional<std::string>& text) {
  return text ? json(*text) : json();
}

json or_null(const std::optional<std::uint64_t>& number) {
  return number ? json(*number) : json();
}

std::chrono::microseconds parse_delay(const std::string& field, const std::string& text) {
  const auto delay = config::parse_duration(text);
  if (!delay) refuse(field, text, "not a duration, such as 300ms, 30s, 5m, 2h");
  return *delay;
}

config::Moment parse_moment(const std::string& field, const std::string& text) {
  try {
    return config::read_moment(text);
  } catch (const Error& error) {
    refuse(field, text, error.what());
  }
}

}  // namespace allot::as_json
