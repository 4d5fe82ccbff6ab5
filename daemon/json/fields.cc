// SPDX-License-Identifier: Apache-2.0
#include "json/fields.h"

#include <nlohmann/json.hpp>

namespace allot::as_json {
using nlohmann::json;

std::string text_in(const json& document, const char* name) {
  const auto at = document.find(name);
  return at == document.end() || at->is_null() ? "" : at->get<std::string>();
}

std::optional<std::uint64_t> maybe_u64_in(const json& document, const char* name) {
  const json& value = document.at(name);
  return value.is_null() ? std::nullopt : std::optional(value.get<std::uint64_t>());
}

}  // namespace allot::as_json
