// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <variant>

#include "plugin_host/abi_check.h"

namespace allot::plugin_host {

// Opens the shared object at `path` with all symbols bound now and none shared with other plugins,
// and checks its description; before, that nobody else can have changed the file. It stays open for
// the life of the process: handlers may leave threads, and their code must not go away under them;
// an upgrade is a new worker.
std::variant<const allot_plugin*, Finding> open_plugin(const std::string& path);

}  // namespace allot::plugin_host
