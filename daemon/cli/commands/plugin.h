// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/sources/context.h"

// allot plugin: for authors of plugins.
namespace allot::cli {

struct PluginCheckOptions {
  std::vector<std::string> files;
  bool init = false;
  bool json = false;
};

// allot plugin check FILE... becomes the worker's program. Returns only on failure.
int check_plugins(const Context& context, const PluginCheckOptions& options);

struct NewPluginOptions {
  std::string name;
  std::string folder;  // empty: named as the plugin
  bool json = false;
};

// allot plugin new NAME: writes a project that builds, tests and installs. Throws Error when the
// name will not do, or the folder is not empty.
int new_plugin(const NewPluginOptions& options);

}  // namespace allot::cli
