// SPDX-License-Identifier: Apache-2.0
#include "json/fields.h"

#include <nlohmann/json.hpp>

namespace allot::as_json {
namespace {

using nlohmann::json;

template <typename Value>
std::optional<Value> maybe_in(const json& document, const char* name) {
  const json& value = document.at(name);
  return value.is_null() ? std::nullopt : std::optional<Value>(value.get<Value>());
}

}  // namespace

std::string text_in(const json& document, const char* name) {
  const auto at = document.find(name);
  return at == document.end() || at->is_null() ? "" : at->get<std::string>();
}

std::optional<std::string> maybe_text_in(const json& document, const char* name) {
  return maybe_in<std::string>(document, name);
}

std::optional<std::uint32_t> maybe_u32_in(const json& document, const char* name) {
  return maybe_in<std::uint32_t>(document, name);
}

std::optional<std::uint64_t> maybe_u64_in(const json& document, const char* name) {
  return maybe_in<std::uint64_t>(document, name);
}

}  // namespace allot::as_json
