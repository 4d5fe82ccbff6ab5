// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <variant>

#include "plugin_host/abi_check.h"

namespace allot::plugin_host {

// Opens the shared object at `path` with all symbols bound now and none shared with other plugins,
// after it has checked that nobody else can have changed the file; then checks its description. The
// library stays open for the life of the process: handlers may leave threads, and their code must
// not go away under them. An upgrade needs a new worker.
std::variant<const allot_plugin*, Finding> open_plugin(const std::string& path);

}  // namespace allot::plugin_host
