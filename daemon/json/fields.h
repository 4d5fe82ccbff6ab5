// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

// Fields of a document that is read back. All throw nlohmann::json::exception for one of another
// form.
namespace allot::as_json {

// "": null, or left out.
[[nodiscard]] std::string text_in(const nlohmann::json& document, const char* name);

// nullopt: null.
[[nodiscard]] std::optional<std::string> maybe_text_in(const nlohmann::json& document,
                                                       const char* name);
[[nodiscard]] std::optional<std::uint32_t> maybe_u32_in(const nlohmann::json& document,
                                                        const char* name);
[[nodiscard]] std::optional<std::uint64_t> maybe_u64_in(const nlohmann::json& document,
                                                        const char* name);

}  // namespace allot::as_json
