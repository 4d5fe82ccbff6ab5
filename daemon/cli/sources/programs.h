// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/sources/context.h"

// Access to the other programs of this installation.
namespace allot::cli {

// Executes the worker program in place of this process, because only that program loads plugins.
// Returns only on failure.
int run_worker_program(const Context& context, const std::vector<std::string>& arguments);

// Finds a program of this installation: in $ALLOT_LIBEXEC, else next to this program, else in
// ../libexec/allot or ../sbin.
[[nodiscard]] std::string program_path(const std::string& name);

// Returns the standard output of allot-worker and discards its standard error.
[[nodiscard]] std::string worker_output(const Context& context,
                                        const std::vector<std::string>& arguments);

// Replaces this process by a program of this installation. Returns only on failure.
int run_program(const std::string& name, std::vector<std::string> words);

}  // namespace allot::cli
