// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "plugin_host/refusal.h"

// A plugin is code that runs with the worker's rights, so nobody else may be able to replace it
// (F6). Group-writable is accepted, because /usr/local and a user's own folders often are.
namespace allot::plugin_host {

// The result of stat for a path.
struct Access {
  std::string path;
  uid_t owner = 0;
  mode_t mode = 0;
};

// Folders on the way to a file. For those above the holders only the rights count: whoever wrote
// the path into the configuration has chosen their owners.
struct Way {
  std::vector<Access> holders;  // the folder of the file, and that of the link to it
  std::vector<Access> above;
};

// Pure. `self` is the user of this process. nullopt: nobody but root and `self` can change the
// file.
std::optional<Finding> check_access(const Access& file, const Way& way, uid_t self);

// The regular file at `path` with all links resolved, if it passes check_access. Open the returned
// path, because somebody could change a link in between.
std::variant<std::string, Finding> trusted_file(const std::string& path);

}  // namespace allot::plugin_host
