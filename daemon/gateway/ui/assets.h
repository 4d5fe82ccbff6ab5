// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

// The style sheet, the icon and the module, which are part of the program. Their addresses have a
// hash of all of them, so that a browser keeps them for as long as the program is the same.
namespace allot::gateway::ui {

struct Asset {
  std::string_view type;
  std::string_view text;  // empty: there is none of that name
};

// "0f3a..."; the same for the same files.
[[nodiscard]] const std::string& asset_mark();
[[nodiscard]] std::string asset_address(const std::string& root, std::string_view name);
// `path`: what follows "assets/".
[[nodiscard]] Asset asset_at(std::string_view path);

}  // namespace allot::gateway::ui
