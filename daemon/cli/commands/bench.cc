// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>

#include "cli/commands/command.h"
#include "cli/sources/programs.h"

namespace allot::cli {

void add_bench(CLI::App& app, const Commands& commands) {
  CLI::App* bench = app.add_subcommand("bench", "Measure this machine: allot bench --help");
  bench->prefix_command()->fallthrough(false)->set_help_flag();  // all words belong to allot-bench
  bench->callback([commands, bench] {
    commands.chosen = [&context = commands.context, bench] {
      if (context.remote.chosen()) remote::no_route();
      return run_program("allot-bench", bench->remaining());
    };
  });
}

}  // namespace allot::cli
