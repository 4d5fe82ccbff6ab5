// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "plugin_host/opened_plugin.h"

// Inspects plugins without danger to the caller: a forked child opens each plugin, so that the
// caller can name one that crashes, exits or hangs.
namespace allot::plugin_host {

struct ProbeOptions {
  // The time for all of them; a third of what the supervisor grants a whole check.
  std::chrono::milliseconds patience = std::chrono::seconds(10);
  // Also make and destroy the handlers, as a worker does when it starts.
  bool init = false;
  Sections sections = {};
};

// Returns what each file offers, or why it is refused, in the order of `paths`. Call it while this
// process has one thread.
std::vector<PluginFile> probe(const std::vector<std::string>& paths,
                              const ProbeOptions& options = {});

}  // namespace allot::plugin_host
