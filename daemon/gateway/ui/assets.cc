// SPDX-License-Identifier: Apache-2.0
#include "gateway/ui/assets.h"

#include "gateway/access/token.h"
#include "gateway/ui/assets_text.h"

namespace allot::gateway::ui {
namespace {

constexpr std::size_t kMarkDigits = 16;

std::string_view type_of(std::string_view name) {
  if (name.ends_with(".css")) return "text/css; charset=utf-8";
  if (name.ends_with(".svg")) return "image/svg+xml";
  return "text/javascript; charset=utf-8";
}

}  // namespace

const std::string& asset_mark() {
  static const std::string kMark = [] {
    std::string all;
    for (const auto& [name, text] : texts::kFiles) all.append(name).append(text);
    return access::hex_of(access::hash_of(all)).substr(0, kMarkDigits);
  }();
  return kMark;
}

std::string asset_address(const std::string& root, std::string_view name) {
  return root + "assets/" + asset_mark() + "/" + std::string(name);
}

Asset asset_at(std::string_view path) {
  if (!path.starts_with(asset_mark() + "/")) return {};
  path.remove_prefix(asset_mark().size() + 1);
  for (const auto& [name, text] : texts::kFiles) {
    if (name == path) return {type_of(name), text};
  }
  return {};
}

}  // namespace allot::gateway::ui
