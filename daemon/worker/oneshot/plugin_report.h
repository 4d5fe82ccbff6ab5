// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "config/settings.h"
#include "plugin_host/opened_plugin.h"

// Reports what plugins offer, or why they are refused: for people, or with `json` as one list.
namespace allot::worker {

// One line for each section of the configuration that belongs to none of these plugins.
std::vector<std::string> unused_sections(const config::Settings& settings,
                                         const std::vector<plugin_host::PluginFile>& files);

// As plugin_host::describe(), with the place in the configuration file if a plugin refuses its
// section.
std::vector<plugin_host::PluginFile> describe_plugins(const config::Settings& settings);

// Prints every plugin of the folder, and on standard error the unused sections. False: one was
// refused.
bool print_plugins(const config::Settings& settings, bool json);

struct PluginCheck {
  std::vector<std::string> files;
  bool json = false;
  bool init = false;  // also make the handlers, with their configuration sections
  config::LoadOptions load;
};

// Prints these files one by one. It reads the configuration for `init` only, so that plugins can be
// checked without one. False: one was refused.
bool print_plugin_check(const PluginCheck& check);

}  // namespace allot::worker
