// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

// Reads fields of a received document. All functions throw nlohmann::json::exception for another
// form.
namespace allot::as_json {

// "": null or missing.
[[nodiscard]] std::string text_in(const nlohmann::json& document, const char* name);

// nullopt: null.
[[nodiscard]] std::optional<std::uint64_t> maybe_u64_in(const nlohmann::json& document,
                                                        const char* name);

}  // namespace allot::as_json
