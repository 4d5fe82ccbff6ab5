// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "allot/plugin.h"
#include "plugin_host/refusal.h"

namespace allot::plugin_host {

// One plugin's section of the configuration: key -> value.
using Section = std::map<std::string, std::string>;

// A file, as a look at it found it.
struct PluginFile {
  std::string path;
  std::string name;  // its section in the configuration
  std::string version;
  std::uint32_t abi_version = 0;
  std::vector<std::string> types;
  std::optional<Finding> refused;
};

// "plugin FILE refused (REASON): ...", for messages.
std::string refusal_line(const PluginFile& file);

// A handler that is ready to run tasks of its type.
struct LoadedHandler {
  const allot_handler* handler = nullptr;
  void* self = nullptr;
};

struct OpenedPlugin {
  PluginFile file;
  const allot_plugin* plugin = nullptr;  // null when it was refused
};

// Opens and describes a plugin in this process, for good.
OpenedPlugin open_and_describe(const std::string& path);

// Makes the state of each handler. Those that were made are in `made`, also when one failed: the
// caller destroys them.
std::optional<Finding> make_handlers(const allot_plugin& plugin, const Section& section,
                                     std::vector<LoadedHandler>& made);
void destroy(const LoadedHandler& handler);

}  // namespace allot::plugin_host
