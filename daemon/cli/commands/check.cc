// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "cli/commands/command.h"
#include "cli/sources/programs.h"

namespace allot::cli {
namespace {

// allot check: only the worker's program loads plugins. Returns only on failure.
int check(const Context& context, const JsonOption& options) {
  std::vector<std::string> arguments{"--check", "all"};
  if (options.json) arguments.emplace_back("--json");
  return run_worker_program(context, arguments);
}

}  // namespace

void add_check(CLI::App& app, const Commands& commands) {
  commands.add_plain(app, "check", "Check configuration, plugins and database", check);
}

}  // namespace allot::cli
