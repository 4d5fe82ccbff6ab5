// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/command.h"

#include <CLI/CLI.hpp>
#include <utility>

#include "cli/sources/local.h"
#include "json/due.h"

namespace allot::cli {
namespace {

constexpr int kMostListed = 1'000'000;
constexpr int kMostRate = 1'000'000;

}  // namespace

int with_operations(const Context& context, const std::function<int(const Operations&)>& act) {
  check_reason(context.reason);
  if (!context.remote.chosen()) return act(Local(context));
  return remote::over_http(context.remote, context.reason, act);
}

CLI::Option& add_limit(CLI::App& command, std::uint32_t& limit, const char* text) {
  return *command.add_option("--limit", limit, text)
              ->check(CLI::Range(1, kMostListed))
              ->type_name("ROWS")
              ->capture_default_str();
}

CLI::Option& add_rate(CLI::App& command, std::uint32_t& rate, const char* text) {
  return *command.add_option("--rate", rate, text)
              ->check(CLI::Range(1, kMostRate))
              ->type_name("TASKS");
}

CLI::Option& add_time(CLI::App& command, const std::string& name, std::chrono::microseconds& time,
                      const std::string& text) {
  const auto read = [name, &time](const std::string& word) {
    time = as_json::parse_delay(name, word);
  };
  return *command.add_option_function<std::string>(name, read, text)->type_name("TIME");
}

void add_yes(CLI::App& command, bool& yes, const char* text) {
  command.add_flag("--yes", yes, text);
}

void Commands::add_reason(CLI::App& command) const {
  command.add_option("--reason", reason, "Reason, shown to other operators")->type_name("TEXT");
}

CLI::App& Commands::add_command(CLI::App& above, const std::string& name,
                                const std::string& description, bool& json,
                                std::function<void()> choose) {
  CLI::App& command = *above.add_subcommand(name, description);
  command.add_flag("--json", json, "As JSON");
  command.callback(std::move(choose));
  return command;
}

}  // namespace allot::cli
