// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

namespace allot::plugin_host {

// For a shared object of another machine than this one, which machine each of the two is: the
// dynamic linker only says that it cannot be opened, or does not exist. nullopt: the file is of
// this machine, or not a shared object.
std::optional<std::string> foreign_architecture(const std::string& path);

}  // namespace allot::plugin_host
