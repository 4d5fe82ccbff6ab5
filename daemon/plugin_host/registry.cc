// SPDX-License-Identifier: Apache-2.0
#include "plugin_host/registry.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/error.h"
#include "plugin_host/plugin_library.h"

namespace allot::plugin_host {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> shared_objects(const std::string& folder) {
  std::error_code error;
  std::vector<std::string> paths;
  for (auto at = fs::directory_iterator(folder, error); !error && at != fs::directory_iterator();
       at.increment(error)) {
    if (at->path().extension() == ".so") paths.push_back(fs::absolute(at->path()).string());
  }
  if (error) {
    throw Error("plugin folder '" + folder + "' cannot be read: " + error.message() +
                    "; set [plugins] folder to an existing folder",
                kExitConfig);
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

struct Opened {
  PluginFile file;
  const allot_plugin* plugin = nullptr;
};

Opened open_one(const std::string& path, std::map<std::string, std::string>& owners) {
  Opened opened;
  opened.file.path = path;
  opened.file.name = fs::path(path).stem().string();
  const auto result = open_plugin(path);
  if (const auto* finding = std::get_if<Finding>(&result)) {
    opened.file.refused = *finding;
    return opened;
  }
  opened.plugin = std::get<const allot_plugin*>(result);
  if (opened.plugin->name.size > 0) opened.file.name = view(opened.plugin->name);
  opened.file.version = view(opened.plugin->version);
  opened.file.abi_version = opened.plugin->abi_version;
  for (std::size_t i = 0; i < opened.plugin->handler_count; ++i) {
    const std::string type(view(opened.plugin->handlers[i]->type));
    opened.file.types.push_back(type);
    const auto [owner, is_new] = owners.try_emplace(type, path);
    if (is_new || opened.file.refused) continue;
    opened.file.refused =
        Finding{Refusal::kTypeTaken, "type '" + type + "' is offered by " + owner->second +
                                         " too; take one of the two files out of the folder"};
  }
  return opened;
}

std::vector<Opened> open_all(const std::string& folder) {
  std::vector<Opened> all;
  std::map<std::string, std::string> owners;
  for (const std::string& path : shared_objects(folder)) all.push_back(open_one(path, owners));
  return all;
}

std::vector<allot_pair> pairs_of(const std::map<std::string, std::string>& section) {
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

std::vector<PluginFile> describe(const std::string& folder) {
  std::vector<PluginFile> files;
  for (Opened& opened : open_all(folder)) files.push_back(std::move(opened.file));
  return files;
}

std::string refusal_line(const PluginFile& file) {
  return "plugin " + file.path + " refused (" + name_of(file.refused->refusal) +
         "): " + file.refused->text;
}

Registry Registry::load(const std::string& folder, const Sections& sections) {
  Registry registry;
  std::string problems;
  for (Opened& opened : open_all(folder)) {
    static const std::map<std::string, std::string> kNone;
    const auto section = sections.find(opened.file.name);
    const auto pairs = pairs_of(section == sections.end() ? kNone : section->second);
    for (std::size_t i = 0; !opened.file.refused && i < opened.plugin->handler_count; ++i) {
      LoadedHandler loaded{opened.plugin->handlers[i], nullptr};
      const std::string type(view(loaded.handler->type));
      if (const auto error = create(loaded, pairs)) {
        opened.file.refused = Finding{Refusal::kInitFailed, "handler of '" + type + "': " + *error};
      } else {
        registry.handlers_.emplace(type, loaded);
      }
    }
    if (opened.file.refused) problems += (problems.empty() ? "" : "\n") + refusal_line(opened.file);
  }
  if (!problems.empty()) throw Error(problems, kExitConfig);
  return registry;
}

Registry::~Registry() {
  for (auto& [type, loaded] : handlers_) {
    if (loaded.handler->destroy != nullptr) loaded.handler->destroy(loaded.self);
  }
}

const LoadedHandler* Registry::find(std::string_view type) const {
  const auto at = handlers_.find(type);
  return at == handlers_.end() ? nullptr : &at->second;
}

}  // namespace allot::plugin_host
