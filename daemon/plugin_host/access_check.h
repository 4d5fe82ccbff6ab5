// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <variant>

#include "plugin_host/refusal.h"

// A plugin runs with the worker's rights, so no other account may be able to replace it (F6, S72).
// Group-writable is accepted, because /usr/local and a user's own folders often are.
namespace allot::plugin_host {

// The regular file at `path` with all links resolved, if only root and the user of this process can
// change it. Open the returned path.
std::variant<std::string, Finding> trusted_file(const std::string& path);

}  // namespace allot::plugin_host
