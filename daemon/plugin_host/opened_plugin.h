// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "allot/plugin.h"
#include "plugin_host/refusal.h"

namespace allot::plugin_host {

// One plugin's section of the configuration: key -> value; a list is its key several times.
using Section = std::multimap<std::string, std::string>;
// The sections by plugin name.
using Sections = std::map<std::string, Section>;

// A plugin file and what it offers.
struct PluginFile {
  std::string path;
  std::string name;  // its section in the configuration
  std::string version;
  std::uint32_t abi_version = 0;
  std::vector<std::string> types;
  bool types_by_config = false;  // the configuration may name more
  std::optional<Finding> refused;
};

// "plugin FILE refused (REASON): ...", for messages.
std::string refusal_line(const PluginFile& file);

// A handler that is ready to run tasks of its types.
struct LoadedHandler {
  const allot_handler* handler = nullptr;
  void* self = nullptr;
  std::vector<std::string> types = {};
};

struct OpenedPlugin {
  PluginFile file;
  std::vector<LoadedHandler> handlers;  // not made yet; without those that have no type
  Section section;
};

// Opens and describes a plugin in this process, for good. Makes no handler.
OpenedPlugin open_and_describe(const std::string& path, const Sections& sections);

// Makes the state of each handler. `made` has those that were made, also when one failed: the
// caller destroys them.
std::optional<Finding> make_handlers(const OpenedPlugin& opened, std::vector<LoadedHandler>& made);
void destroy(const LoadedHandler& handler);

}  // namespace allot::plugin_host
