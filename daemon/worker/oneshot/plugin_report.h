// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/settings.h"
#include "plugin_host/opened_plugin.h"
#include "worker/oneshot/check.h"
#include "worker/oneshot/unit_reach.h"

// Reports what plugins offer, or why they are refused: for people, or with `json` as one list.
namespace allot::worker {

// "FILE", or "FILE:LINE" if the path of a key or section is in the file.
std::string place_of(const config::Settings& settings, const std::string& path);

// One line for each section of the configuration that belongs to none of these plugins.
std::vector<std::string> unused_sections(const config::Settings& settings,
                                         const std::vector<plugin_host::PluginFile>& files);

// Programs of exec and pipe that this account cannot run; with `reach` also programs, their scripts
// and folders that the service cannot use. They do not stop a start.
void find_unusable_programs(const config::Settings& settings, const std::optional<UnitReach>& reach,
                            Findings& findings);

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
