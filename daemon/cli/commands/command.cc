// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/command.h"

#include <CLI/CLI.hpp>

#include "cli/sources/local.h"

namespace allot::cli {
namespace {

template <typename Run>
void add_json_only(const Commands& commands, CLI::App& app, const std::string& name,
                   const std::string& description, Run run) {
  const auto options = std::make_shared<JsonOption>();
  CLI::App& command = *app.add_subcommand(name, description);
  command.add_flag("--json", options->json, "As JSON");
  command.callback([commands, run, options] { commands.choose(run, options); });
}

}  // namespace

int with_operations(const Context& context, const std::function<int(const Operations&)>& act) {
  check_reason(context.reason);
  if (!context.remote.chosen()) return act(Local(context));
  return remote::over_http(context.remote, context.reason, act);
}

void Commands::add_reason(CLI::App& command) const {
  command.add_option("--reason", reason, "Reason, shown to other operators")->type_name("TEXT");
}

void Commands::add_plain(CLI::App& app, const std::string& name, const std::string& description,
                         int (*run)(const Context&, const JsonOption&)) const {
  add_json_only(*this, app, name, description, run);
}

void Commands::add_plain(CLI::App& app, const std::string& name, const std::string& description,
                         int (*run)(const Operations&, const JsonOption&)) const {
  add_json_only(*this, app, name, description, run);
}

}  // namespace allot::cli
