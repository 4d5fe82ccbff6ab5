// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace allot::cli::remote {

// The token of the file, else of the file that $ALLOT_TOKEN_FILE names, else of $ALLOT_TOKEN;
// empty: none is given. Never taken from an argument, which every user of the host can read. Throws
// Error(kExitNoInput) for a file that cannot be read, Error(kExitConfig) for what is no token.
// Warns of a file that others may read.
[[nodiscard]] std::string read_token(const std::string& file);

// Of the environment; empty: not set.
[[nodiscard]] std::string variable(const char* name);

}  // namespace allot::cli::remote
