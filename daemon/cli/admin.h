// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/context.h"

namespace allot::cli {

// allot migrate: brings the schema up to date and makes the configured queues.
int migrate(const Context& context, bool json);

// allot check, allot plugins: what loads plugins is the worker's program, so it is run in our
// place. Returns only on failure.
int run_worker_program(const Context& context, const std::vector<std::string>& arguments);

// One that belongs to this: where $ALLOT_LIBEXEC says, else beside it, else in ../libexec/allot or
// ../sbin.
[[nodiscard]] std::string program_path(const std::string& name);

// What allot-worker writes to standard output; what it says on standard error is left out.
[[nodiscard]] std::string worker_output(const Context& context,
                                        const std::vector<std::string>& arguments);

// Becomes a program of this installation. Returns only on failure.
int run_program(const std::string& name, std::vector<std::string> words);

}  // namespace allot::cli
