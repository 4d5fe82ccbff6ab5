// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/sources/context.h"

// The other programs of this installation.
namespace allot::cli {

// Only the worker's program loads plugins, so it runs in place of this process. Returns only on
// failure.
int run_worker_program(const Context& context, const std::vector<std::string>& arguments);

// Finds a program of this installation: where $ALLOT_LIBEXEC says, else beside this program, else
// in ../libexec/allot or ../sbin.
[[nodiscard]] std::string program_path(const std::string& name);

// Returns what allot-worker writes to standard output, and discards its standard error.
[[nodiscard]] std::string worker_output(const Context& context,
                                        const std::vector<std::string>& arguments);

// Replaces this process by a program of this installation. Returns only on failure.
int run_program(const std::string& name, std::vector<std::string> words);

}  // namespace allot::cli
