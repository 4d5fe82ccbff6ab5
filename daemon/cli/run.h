// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace allot::cli {

// Executes one command line of `allot`, and reports its errors on standard error. Returns the exit
// code. `allot` calls it once; tests call it again and again in one process.
int run(int argc, char** argv);

// Prints each line of the message on standard error: each mistake of a configuration file has its
// own. Returns `code`.
int report(const std::string& message, int code);

}  // namespace allot::cli
