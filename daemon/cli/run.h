// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace allot::cli {

// Executes one command line of `allot` and prints its errors on standard error. Returns the exit
// code. Called once by `allot`; tests call it repeatedly in one process.
int run(int argc, char** argv);

// Prints each line of the message on standard error, for example one line for each mistake in a
// configuration file. Returns `code`.
int report(const std::string& message, int code);

}  // namespace allot::cli
