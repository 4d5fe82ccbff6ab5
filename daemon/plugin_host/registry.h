// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "plugin_host/opened_plugin.h"

namespace allot::plugin_host {

// Describes every *.so of a folder, in name order. It starts nothing (S30), and opens each in a
// child of its own (probe.h). When two plugins offer the same type or prefix, it refuses the second
// and names both files. Throws Error(kExitConfig) when the folder cannot be read.
std::vector<PluginFile> describe(const std::string& folder, const Sections& sections = {});

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

  // Finds a handler by its exact type, else by the longest prefix of the type. nullptr: no handler
  // here knows this type.
  [[nodiscard]] const LoadedHandler* find(std::string_view type) const;
  // To be called by each thread that runs tasks, before its first one. `serial`: it also runs tasks
  // of handlers that only one thread may call.
  void begin_thread(bool serial) const;
  // The number of types and prefixes.
  [[nodiscard]] std::size_t size() const { return by_type_.size() + by_prefix_.size(); }

 private:
  Registry() = default;
  using Places = std::map<std::string, std::size_t, std::less<>>;  // where in handlers_
  [[nodiscard]] const LoadedHandler* at(const Places& places, std::string_view name) const;

  std::vector<LoadedHandler> handlers_;
  Places by_type_;
  Places by_prefix_;  // "mail." for "mail.*"
};

}  // namespace allot::plugin_host
