// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "config/settings.h"
#include "config/tree.h"

namespace allot::config {

// Checks and completes one section with the keys of [database]: servers, the password from its
// file, the account of the embedded database. complete() calls it for each such section; `section`
// is "database", or the name in the header.
void check_database(Settings& settings, Database& database, const std::string& section,
                    Problems& problems);

// Reads a password from its own file, without the line break at the end. Returns 0 or an errno.
[[nodiscard]] int read_password(Settings& settings, const std::string& file, std::string& password);

}  // namespace allot::config
