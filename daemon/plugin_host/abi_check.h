// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "allot/plugin.h"
#include "plugin_host/refusal.h"

namespace allot::plugin_host {

// Pure: looks only at the description, calls nothing. nullopt: the plugin is good.
std::optional<Finding> check_abi(const allot_plugin* plugin);

inline std::string_view view(const allot_str& text) {
  return text.data == nullptr ? std::string_view{} : std::string_view{text.data, text.size};
}

}  // namespace allot::plugin_host
