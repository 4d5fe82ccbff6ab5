// SPDX-License-Identifier: Apache-2.0
#include "json/fields.h"

#include <nlohmann/json.hpp>

namespace allot::as_json {
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

}  // namespace allot::as_json
