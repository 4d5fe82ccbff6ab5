// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <variant>

#include "plugin_host/abi_check.h"

namespace allot::plugin_host {

// The regular file at `path` with all links resolved, if only root and the user of this process can
// change it: a plugin runs with the worker's rights (F6, S72). Group-writable is accepted, because
// /usr/local and a user's own folders often are. Open the returned path.
std::variant<std::string, Finding> trusted_file(const std::string& path);

// Opens the shared object at `path` with all symbols bound now and none shared with other plugins,
// after checking that no other account can have changed the file; then checks its description. The
// library stays open until the process ends: handlers may leave threads behind, whose code must
// remain. An upgrade needs a new worker.
std::variant<const allot_plugin*, Finding> open_plugin(const std::string& path);

}  // namespace allot::plugin_host
