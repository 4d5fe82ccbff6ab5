// SPDX-License-Identifier: Apache-2.0
#include "plugin_host/opened_plugin.h"

#include <algorithm>
#include <array>
#include <filesystem>

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

// What create() said, or nullopt when it worked.
std::optional<std::string> create(LoadedHandler& loaded, const std::vector<allot_pair>& pairs) {
  if (loaded.handler->create == nullptr) return std::nullopt;
  std::array<char, 4096> buffer{};
  allot_text error{buffer.data(), buffer.size(), 0};
  if (loaded.handler->create(pairs.data(), pairs.size(), &loaded.self, &error) == 0) {
    return std::nullopt;
  }
  return std::string(buffer.data(), std::min(error.size, buffer.size()));
}

}  // namespace

std::string refusal_line(const PluginFile& file) {
  return "plugin " + file.path + " refused (" + name_of(file.refused->refusal) +
         "): " + file.refused->text;
}

OpenedPlugin open_and_describe(const std::string& path) {
  OpenedPlugin opened;
  PluginFile& file = opened.file;
  file.path = path;
  file.name = std::filesystem::path(path).stem().string();
  const auto result = open_plugin(path);
  if (const auto* finding = std::get_if<Finding>(&result)) {
    file.refused = *finding;
    return opened;
  }
  opened.plugin = std::get<const allot_plugin*>(result);
  if (opened.plugin->name.size > 0) file.name = view(opened.plugin->name);
  file.version = view(opened.plugin->version);
  file.abi_version = opened.plugin->abi_version;
  for (std::size_t i = 0; i < opened.plugin->handler_count; ++i) {
    file.types.emplace_back(view(opened.plugin->handlers[i]->type));
  }
  return opened;
}

std::optional<Finding> make_handlers(const allot_plugin& plugin, const Section& section,
                                     std::vector<LoadedHandler>& made) {
  const auto pairs = pairs_of(section);
  for (std::size_t i = 0; i < plugin.handler_count; ++i) {
    LoadedHandler loaded{plugin.handlers[i], nullptr};
    if (const auto error = create(loaded, pairs)) {
      return Finding{Refusal::kInitFailed,
                     "handler of '" + std::string(view(loaded.handler->type)) + "': " + *error};
    }
    made.push_back(loaded);
  }
  return std::nullopt;
}

void destroy(const LoadedHandler& handler) {
  if (handler.handler->destroy != nullptr) handler.handler->destroy(handler.self);
}

}  // namespace allot::plugin_host
