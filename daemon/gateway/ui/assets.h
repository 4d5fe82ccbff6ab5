// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

// The style sheet, the icon and the JavaScript module, compiled into the program. Their addresses
// contain a hash of all of them, so that a browser may cache them until the program changes.
namespace allot::gateway::ui {

struct Asset {
  std::string_view type;
  std::string_view text;  // empty: unknown name
};

// "0f3a..."; depends only on the files.
[[nodiscard]] const std::string& asset_mark();
[[nodiscard]] std::string asset_address(const std::string& root, std::string_view name);
// `path`: the part after "assets/".
[[nodiscard]] Asset asset_at(std::string_view path);

}  // namespace allot::gateway::ui
