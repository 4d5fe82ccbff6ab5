// SPDX-License-Identifier: Apache-2.0
#include "plugin_host/opened_plugin.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <variant>

#include "plugin_host/abi_check.h"
#include "plugin_host/plugin_library.h"

namespace allot::plugin_host {
namespace {

std::vector<allot_pair> pairs_of(const Section& section) {
  std::vector<allot_pair> pairs;
  for (const auto& [key, value] : section) {
    pairs.push_back({{key.data(), key.size()}, {value.data(), value.size()}});
  }
  return pairs;
}

// A buffer for a plugin's error text.
struct ErrorText {
  std::array<char, 4096> buffer{};
  allot_text text{buffer.data(), buffer.size(), 0};
  [[nodiscard]] std::string str() const {
    return {buffer.data(), std::min(text.size, buffer.size())};
  }
};

void take_type(void* types, allot_str type) {
  static_cast<std::vector<std::string>*>(types)->emplace_back(view(type));
}

// The types of a handler, including those that the configuration names.
std::variant<std::vector<std::string>, Finding> types_of(const allot_handler& handler,
                                                         const std::vector<allot_pair>& config) {
  std::vector<std::string> types;
  if (handler.type.size > 0) take_type(&types, handler.type);
  const auto configured = handler.types;
  if (configured == nullptr) return types;
  ErrorText error;
  if (configured(config.data(), config.size(), &take_type, &types, &error.text) != 0) {
    return Finding{Refusal::kBadConfig, error.str()};
  }
  for (const std::string& type : types) {
    if (is_offer(type)) continue;
    return Finding{Refusal::kBadType, "the configuration names the type '" + type.substr(0, 80) +
                                          "'; " + std::string(kOffersAllowed)};
  }
  return types;
}

std::optional<Finding> describe_handlers(const allot_plugin& plugin, OpenedPlugin& opened) {
  const auto pairs = pairs_of(opened.section);
  std::set<std::string> all;
  for (std::size_t i = 0; i < plugin.handler_count; ++i) {
    const allot_handler& handler = *plugin.handlers[i];
    opened.file.types_by_config |= handler.types != nullptr;
    auto types = types_of(handler, pairs);
    if (const auto* finding = std::get_if<Finding>(&types)) return *finding;
    LoadedHandler described{&handler, nullptr, std::get<std::vector<std::string>>(types)};
    for (const std::string& type : described.types) {
      if (all.insert(type).second) continue;
      return Finding{Refusal::kTypeTwice, "type '" + type + "' is offered twice; keep one of them"};
    }
    opened.file.types.insert(opened.file.types.end(), described.types.begin(),
                             described.types.end());
    if (!described.types.empty()) opened.handlers.push_back(std::move(described));
  }
  return std::nullopt;
}

}  // namespace

std::string refusal_line(const PluginFile& file) {
  return "plugin " + file.path + " refused (" + name_of(file.refused->refusal) +
         "): " + file.refused->text;
}

OpenedPlugin open_and_describe(const std::string& path, const Sections& sections) {
  OpenedPlugin opened;
  PluginFile& file = opened.file;
  file.path = path;
  file.name = std::filesystem::path(path).stem().string();
  const auto result = open_plugin(path);
  if (const auto* finding = std::get_if<Finding>(&result)) {
    file.refused = *finding;
    return opened;
  }
  const allot_plugin& plugin = *std::get<const allot_plugin*>(result);
  if (plugin.name.size > 0) file.name = view(plugin.name);
  file.version = view(plugin.version);
  file.abi_version = plugin.abi_version;
  const auto section = sections.find(file.name);
  if (section != sections.end()) opened.section = section->second;
  file.refused = describe_handlers(plugin, opened);
  return opened;
}

std::optional<Finding> make_handlers(const OpenedPlugin& opened, std::vector<LoadedHandler>& made) {
  const auto pairs = pairs_of(opened.section);
  for (LoadedHandler handler : opened.handlers) {
    ErrorText error;
    const auto create = handler.handler->create;
    if (create != nullptr && create(pairs.data(), pairs.size(), &handler.self, &error.text) != 0) {
      return Finding{Refusal::kInitFailed,
                     "handler of '" + handler.types.front() + "': " + error.str()};
    }
    made.push_back(std::move(handler));
  }
  return std::nullopt;
}

void destroy(const LoadedHandler& handler) {
  if (handler.handler->destroy != nullptr) handler.handler->destroy(handler.self);
}

}  // namespace allot::plugin_host
