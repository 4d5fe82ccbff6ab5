// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "plugin_host/opened_plugin.h"

// A look at plugins that cannot hurt the looker: each is opened in a forked child, so that one that
// crashes, exits or hangs is known by its name.
namespace allot::plugin_host {

struct ProbeOptions {
  // Time for all of them; a third of what the supervisor grants a whole check.
  std::chrono::milliseconds patience = std::chrono::seconds(10);
  // Also make and destroy the handlers, as a worker does when it starts.
  bool init = false;
  Sections sections = {};
};

// What each file offers, or why it is refused, in the order of `paths`. Must be called while this
// process has one thread.
std::vector<PluginFile> probe(const std::vector<std::string>& paths,
                              const ProbeOptions& options = {});

}  // namespace allot::plugin_host
