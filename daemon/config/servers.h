// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "config/settings.h"

namespace allot::config {

// Parses "db1", "db1:3307", "::1", "[::1]:3307". nullopt for any other text.
[[nodiscard]] std::optional<Server> parse_server(std::string_view text, std::uint16_t default_port);

}  // namespace allot::config
