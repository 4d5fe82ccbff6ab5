// SPDX-License-Identifier: Apache-2.0
#include "plugin_host/registry.h"

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "plugin_host/abi_check.h"
#include "plugin_host/probe.h"

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

// Which file offered a type first.
using Owners = std::map<std::string, std::string>;

void refuse_taken_types(PluginFile& file, Owners& owners) {
  for (const std::string& type : file.types) {
    const auto [owner, is_new] = owners.try_emplace(type, file.path);
    if (is_new || file.refused) continue;
    file.refused =
        Finding{Refusal::kTypeTaken, "type '" + type + "' is offered by " + owner->second +
                                         " too; take one of the two files out of the folder"};
  }
}

}  // namespace

std::vector<PluginFile> describe(const std::string& folder) {
  std::vector<PluginFile> files = probe(shared_objects(folder));
  Owners owners;
  for (PluginFile& file : files) refuse_taken_types(file, owners);
  return files;
}

Registry Registry::load(const std::string& folder, const Sections& sections) {
  static const Section kNone;
  Registry registry;
  Owners owners;
  std::string problems;
  for (const std::string& path : shared_objects(folder)) {
    OpenedPlugin opened = open_and_describe(path);
    PluginFile& file = opened.file;
    refuse_taken_types(file, owners);
    if (!file.refused) {
      const auto section = sections.find(file.name);
      std::vector<LoadedHandler> made;
      file.refused =
          make_handlers(*opened.plugin, section == sections.end() ? kNone : section->second, made);
      for (const LoadedHandler& handler : made) {
        registry.handlers_.emplace(view(handler.handler->type), handler);
      }
    }
    if (file.refused) problems += (problems.empty() ? "" : "\n") + refusal_line(file);
  }
  if (!problems.empty()) throw Error(problems, kExitConfig);
  return registry;
}

Registry::~Registry() {
  for (const auto& [type, handler] : handlers_) destroy(handler);
}

const LoadedHandler* Registry::find(std::string_view type) const {
  const auto at = handlers_.find(type);
  return at == handlers_.end() ? nullptr : &at->second;
}

}  // namespace allot::plugin_host
