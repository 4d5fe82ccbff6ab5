// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

// Fields of documents.
namespace allot::as_json {

// "": null or missing. Throws nlohmann::json::exception for another form.
[[nodiscard]] std::string text_in(const nlohmann::json& document, const char* name);

// null: no value, or an empty text.
[[nodiscard]] nlohmann::json or_null(const std::string& text);
[[nodiscard]] nlohmann::json or_null(const std::optional<std::string>& text);
[[nodiscard]] nlohmann::json or_null(const std::optional<std::uint64_t>& number);

}  // namespace allot::as_json
