// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "allot/plugin.h"
#include "plugin_host/abi_check.h"

namespace allot::plugin_host {

// The configuration of the plugins: section name -> key -> value.
using Sections = std::map<std::string, std::map<std::string, std::string>>;

// One file of the plugin folder, as a look at it found it.
struct PluginFile {
  std::string path;
  std::string name;  // its section in the configuration
  std::string version;
  std::uint32_t abi_version = 0;
  std::vector<std::string> types;
  std::optional<Finding> refused;
};

// Describes every *.so of a folder, in name order; starts nothing (S30). A type that two plugins
// offer is a refusal of the second that names both files. Throws Error(kExitConfig) when the folder
// cannot be read.
std::vector<PluginFile> describe(const std::string& folder);

// "FILE: refused: REASON: ...", for messages.
std::string refusal_line(const PluginFile& file);

// A handler that is ready to run tasks of its type.
struct LoadedHandler {
  const allot_handler* handler = nullptr;
  void* self = nullptr;
};

// The handlers of this process by task type.
class Registry {
 public:
  // Loads every plugin of the folder and makes its handlers. Throws Error(kExitConfig) with one
  // line for each plugin that is refused.
  static Registry load(const std::string& folder, const Sections& sections);

  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;
  Registry(Registry&&) = default;
  Registry& operator=(Registry&&) = delete;
  // Destroys the handlers' states; the libraries stay.
  ~Registry();

  // nullptr: nobody here knows this type.
  [[nodiscard]] const LoadedHandler* find(std::string_view type) const;
  [[nodiscard]] std::size_t size() const { return handlers_.size(); }

 private:
  Registry() = default;
  std::map<std::string, LoadedHandler, std::less<>> handlers_;
};

}  // namespace allot::plugin_host
