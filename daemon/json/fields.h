// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "config/rows.h"

// Fields of documents, and the times in them.
namespace allot::as_json {

// "": null or missing. Throws nlohmann::json::exception for another form.
[[nodiscard]] std::string text_in(const nlohmann::json& document, const char* name);

// null: no value, or an empty text.
[[nodiscard]] nlohmann::json or_null(const std::string& text);
[[nodiscard]] nlohmann::json or_null(const std::optional<std::string>& text);
[[nodiscard]] nlohmann::json or_null(const std::optional<std::uint64_t>& number);

// Reads "300ms", "5m". Throws Error(kExitBadInput) that names `field`.
std::chrono::microseconds parse_delay(const std::string& field, const std::string& text);

// Reads RFC 3339: "2026-12-24T18:00:00Z", "2026-12-24T19:00:00.5+01:00". The time zone is required,
// because a guess could be wrong. Throws Error(kExitBadInput) that names `field`.
config::Moment parse_moment(const std::string& field, const std::string& text);

}  // namespace allot::as_json
