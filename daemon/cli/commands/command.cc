// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/command.h"

#include <CLI/CLI.hpp>
#include <utility>

#include "cli/sources/local.h"
#include "json/fields.h"
#include "queue/model/task.h"

namespace allot::cli {
namespace {

constexpr std::uint32_t kMostListed = 1'000'000;
constexpr std::uint32_t kMostRate = 1'000'000;

}  // namespace

int with_operations(const Context& context, const std::function<int(const Operations&)>& act) {
  check_reason(context.reason);
  if (!context.remote.chosen()) return act(Local(context));
  return remote::over_http(context.remote, context.reason, act);
}

CLI::Option& add_text(CLI::App& command, const std::string& name, const char* value,
                      std::string& text, const std::string& what) {
  return *command.add_option(name, text, what)->type_name(value)->capture_default_str();
}

CLI::Option& add_number(CLI::App& command, const std::string& name, const char* value,
                        std::uint32_t& number, std::uint32_t most, const std::string& what) {
  CLI::Option& added = *command.add_option(name, number, what)->type_name(value);
  if (number > 0) added.capture_default_str();
  return *added.check(CLI::Range(1U, most));
}

CLI::Option& add_prio(CLI::App& command, std::uint32_t& prio) {
  return *command.add_option("--prio", prio, "Priority class 0 (first) to 3 (last)")
              ->check(CLI::Range(0U, queue::kPrioClasses - 1))
              ->type_name("CLASS")
              ->capture_default_str();
}

CLI::Option& add_limit(CLI::App& command, std::uint32_t& limit, const char* text) {
  return add_number(command, "--limit", "ROWS", limit, kMostListed, text);
}

CLI::Option& add_rate(CLI::App& command, std::uint32_t& rate, const char* text) {
  return add_number(command, "--rate", "TASKS", rate, kMostRate, text);
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
