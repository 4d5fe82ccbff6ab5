// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "config/settings.h"
#include "config/tree.h"

namespace allot::config {

// Checks and completes one section with the keys of [database]: servers, the password from its
// file, the account of the embedded database. complete() calls it for each of them; `section` is
// "database", or as the header has it.
void check_database(Settings& settings, Database& database, const std::string& section,
                    Problems& problems);

// Reads a password from a file of its own, without the line break at its end. 0, or an errno.
[[nodiscard]] int read_password(Settings& settings, const std::string& file, std::string& password);

}  // namespace allot::config
