// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "config/settings.h"

// What plugins offer, or why they are refused: for people, or with `json` as one list.
namespace allot::worker {

// Every plugin of the folder. False: one was refused.
bool print_plugins(const config::Settings& settings, bool json);

struct PluginCheck {
  std::vector<std::string> files;
  bool json = false;
  bool init = false;  // also make the handlers, with their sections of the configuration
  config::LoadOptions load;
};

// These files, each by itself. The configuration is read for `init` only, so that a plugin can be
// checked where there is none. False: one was refused.
bool print_plugin_check(const PluginCheck& check);

}  // namespace allot::worker
