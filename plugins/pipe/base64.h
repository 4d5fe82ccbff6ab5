// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace pipe_plugin {

// RFC 4648, section 4, with its padding. nullopt: invalid.
[[nodiscard]] std::optional<std::string> from_base64(std::string_view text);
[[nodiscard]] std::string to_base64(std::string_view bytes);

}  // namespace pipe_plugin
