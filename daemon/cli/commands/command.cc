// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/command.h"

#include <CLI/CLI.hpp>

namespace allot::cli {

void Commands::add_reason(CLI::App& command) const {
  command.add_option("--reason", reason, "Reason, shown to other operators")->type_name("TEXT");
}

void Commands::add_plain(CLI::App& app, const std::string& name, const std::string& description,
                         int (*run)(const Context&, const JsonOption&),
                         int (*far)(const remote::Session&, const JsonOption&)) const {
  const auto options = std::make_shared<JsonOption>();
  CLI::App& command = *app.add_subcommand(name, description);
  command.add_flag("--json", options->json, "As JSON");
  command.callback([commands = *this, run, options, far] { commands.choose(run, options, far); });
}

}  // namespace allot::cli
