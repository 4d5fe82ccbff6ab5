// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace allot::as_json {

// RFC 4648, section 4. nullopt: it is none, or has no padding, or bits that no byte has.
[[nodiscard]] std::optional<std::string> from_base64(std::string_view text);
[[nodiscard]] std::string to_base64(std::string_view bytes);

// Section 5, without padding: for what stands in addresses.
[[nodiscard]] std::string to_base64url(std::string_view bytes);
[[nodiscard]] std::optional<std::string> from_base64url(std::string_view text);

}  // namespace allot::as_json
