// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace allot::as_json {

// RFC 4648, section 4. nullopt: invalid, without padding, or with stray bits in the last character.
[[nodiscard]] std::optional<std::string> from_base64(std::string_view text);
[[nodiscard]] std::string to_base64(std::string_view bytes);

// Section 5, without padding: for URLs.
[[nodiscard]] std::string to_base64url(std::string_view bytes);
[[nodiscard]] std::optional<std::string> from_base64url(std::string_view text);

}  // namespace allot::as_json
