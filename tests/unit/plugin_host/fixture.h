// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "base/error.h"
#include "plugin_host/registry.h"

namespace allot::plugin_host {

// Folder in which the build puts a plugin of tests/plugins.
inline std::string folder_of(const std::string& plugin) {
  return ALLOT_TEST_PLUGINS "/" + plugin;
}

// Error of loading that folder; nullopt: success.
inline std::optional<Error> load_failure(const std::string& folder, const Sections& sections = {}) {
  try {
    const Registry registry = Registry::load(folder, sections);
    return std::nullopt;
  } catch (const Error& error) {
    return error;
  }
}

}  // namespace allot::plugin_host
