// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace allot::cli::remote {

// Reads the token from the file, else from the file that $ALLOT_TOKEN_FILE names, else from
// $ALLOT_TOKEN; empty: none is given. Never read from an argument, which every user of the host can
// see. Throws Error(kExitNoInput) for a file that cannot be read, Error(kExitConfig) for an invalid
// token. Warns if other users may read the file.
[[nodiscard]] std::string read_token(const std::string& file);

// Environment variable; empty: not set.
[[nodiscard]] std::string variable(const char* name);

}  // namespace allot::cli::remote
