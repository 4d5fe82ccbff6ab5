// SPDX-License-Identifier: Apache-2.0
// Rule: S80.
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
    file.refused = Finding{Refusal::kTypeTaken,
                           (is_prefix(type) ? "prefix '" : "type '") + type + "' is offered by " +
                               owner->second + " too; remove one of the two files from the folder"};
  }
}

}  // namespace

std::vector<PluginFile> describe(const std::string& folder, const Sections& sections) {
  std::vector<PluginFile> files = probe(shared_objects(folder), {.sections = sections});
  Owners owners;
  for (PluginFile& file : files) refuse_taken_types(file, owners);
  return files;
}

Registry Registry::load(const std::string& folder, const Sections& sections) {
  Registry registry;
  Owners owners;
  std::string problems;
  for (const std::string& path : shared_objects(folder)) {
    OpenedPlugin opened = open_and_describe(path, sections);
    PluginFile& file = opened.file;
    refuse_taken_types(file, owners);
    if (!file.refused) file.refused = make_handlers(opened, registry.handlers_);
    if (file.refused) problems += (problems.empty() ? "" : "\n") + refusal_line(file);
  }
  if (!problems.empty()) throw Error(problems, kExitConfig);
  for (std::size_t i = 0; i < registry.handlers_.size(); ++i) {
    for (const std::string& type : registry.handlers_[i].types) {
      if (is_prefix(type)) {
        registry.by_prefix_.emplace(type.substr(0, type.size() - 1), i);
      } else {
        registry.by_type_.emplace(type, i);
      }
    }
  }
  return registry;
}

Registry::~Registry() {
  for (const LoadedHandler& handler : handlers_) destroy(handler);
}

void Registry::begin_thread(bool serial) const {
  for (const LoadedHandler& loaded : handlers_) {
    const allot_handler& handler = *loaded.handler;
    const auto begin = handler.begin_thread;
    if (begin != nullptr && (serial || handler.concurrent != 0)) begin(loaded.self);
  }
}

const LoadedHandler* Registry::at(const Places& places, std::string_view name) const {
  const auto found = places.find(name);
  return found == places.end() ? nullptr : &handlers_[found->second];
}

const LoadedHandler* Registry::find(std::string_view type) const {
  if (const LoadedHandler* exact = at(by_type_, type)) return exact;
  if (by_prefix_.empty() || type.size() < 2) return nullptr;
  // The longest prefix first: each dot ends a prefix, unless it is the last byte.
  std::size_t dot = type.size() - 1;
  while (dot > 0 && (dot = type.rfind('.', dot - 1)) != std::string_view::npos) {
    if (const LoadedHandler* handler = at(by_prefix_, type.substr(0, dot + 1))) return handler;
  }
  return nullptr;
}

}  // namespace allot::plugin_host
