// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "cli/remote/operations.h"
#include "cli/remote/session.h"
#include "cli/sources/context.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

// Registration of the commands. Each command is a file of this folder: its options, their help and
// its function.
namespace allot::cli {

// Options of a command that has only --json.
struct JsonOption {
  bool json = false;
};

// Adds an option whose value has this name in the help, which also shows its default, unless that
// is empty or 0. A number is 1 to `most`.
CLI::Option& add_text(CLI::App& command, const std::string& name, const char* value,
                      std::string& text, const std::string& what);
CLI::Option& add_number(CLI::App& command, const std::string& name, const char* value,
                        std::uint32_t& number, std::uint32_t most, const std::string& what);

// Options that several commands share.
CLI::Option& add_prio(CLI::App& command, std::uint32_t& prio);
CLI::Option& add_limit(CLI::App& command, std::uint32_t& limit,
                       const char* text = "Maximum number of entries");
CLI::Option& add_rate(CLI::App& command, std::uint32_t& rate,
                      const char* text = "Maximum number of tasks per second");
CLI::Option& add_time(CLI::App& command, const std::string& name, std::chrono::microseconds& time,
                      const std::string& text);
void add_yes(CLI::App& command, bool& yes,
             const char* text = "Do not ask; required without a terminal");

// A command, and the options that its words fill.
template <typename Options>
struct Added {
  CLI::App& command;
  const std::shared_ptr<Options> options;
};

// Calls `act` with the operations of the database or the gateway.
int with_operations(const Context& context, const std::function<int(const Operations&)>& act);

// Arguments for registering a command. Both outlive the parsing and the command.
struct Commands {
  const Context& context;
  std::function<int()>& chosen;
  std::string& reason;  // of the context

  // The parser calls `run` with these options. Refused if --url names a gateway.
  template <typename Options>
  void choose(int (*run)(const Context&, const Options&),
              const std::shared_ptr<Options>& options) const {
    chosen = [&context = context, options, run] {
      check_reason(context.reason);
      if (context.remote.chosen()) remote::no_route();
      return run(context, *options);
    };
  }

  // The parser calls `run` with these options and the operations of the database or, if --url names
  // a gateway, of that one.
  template <typename Options>
  void choose(int (*run)(const Operations&, const Options&),
              const std::shared_ptr<Options>& options) const {
    chosen = [&context = context, options, run] {
      return with_operations(context,
                             [&](const Operations& allot) { return run(allot, *options); });
    };
  }

  // Adds --reason to a command that operates. The reason is stored in its audit entry.
  void add_reason(CLI::App& command) const;

  // Adds a command with --json, which calls `run` as choose() does.
  template <typename Source, typename Options>
  Added<Options> add(CLI::App& above, const std::string& name, const std::string& description,
                     int (*run)(const Source&, const Options&)) const {
    const auto options = std::make_shared<Options>();
    return {add_command(above, name, description, options->json,
                        [*this, run, options] { choose(run, options); }),
            options};
  }

  static CLI::App& add_command(CLI::App& above, const std::string& name,
                               const std::string& description, bool& json,
                               std::function<void()> choose);
};

// Each adds its commands to the program, in the order of this list.
void add_submit(CLI::App& app, const Commands& commands);
void add_tasks(CLI::App& app, const Commands& commands);
void add_task(CLI::App& app, const Commands& commands);
void add_history(CLI::App& app, const Commands& commands);
void add_dead(CLI::App& app, const Commands& commands);
void add_bulk(CLI::App& app, const Commands& commands);
void add_audit(CLI::App& app, const Commands& commands);
void add_queue(CLI::App& app, const Commands& commands);
void add_route(CLI::App& app, const Commands& commands);
void add_schedule(CLI::App& app, const Commands& commands);
void add_lock(CLI::App& app, const Commands& commands);
void add_why(CLI::App& app, const Commands& commands);
void add_doctor(CLI::App& app, const Commands& commands);
void add_top(CLI::App& app, const Commands& commands);
void add_drain(CLI::App& app, const Commands& commands);
void add_plugin(CLI::App& app, const Commands& commands);
void add_status(CLI::App& app, const Commands& commands);
void add_minutes(CLI::App& app, const Commands& commands);
void add_failures(CLI::App& app, const Commands& commands);
void add_metrics(CLI::App& app, const Commands& commands);
void add_migrate(CLI::App& app, const Commands& commands);
void add_grants(CLI::App& app, const Commands& commands);
void add_promote(CLI::App& app, const Commands& commands);
void add_reload(CLI::App& app, const Commands& commands);
void add_plugins(CLI::App& app, const Commands& commands);
void add_config(CLI::App& app, const Commands& commands);
void add_check(CLI::App& app, const Commands& commands);
void add_gateway(CLI::App& app, const Commands& commands);
void add_bench(CLI::App& app, const Commands& commands);
// Called by add_lock() and add_schedule().
void add_lock_run(CLI::App& lock, const Commands& commands);
void add_schedule_add(CLI::App& schedule, const Commands& commands);
void add_schedule_apply(CLI::App& schedule, const Commands& commands);
void add_schedule_import(CLI::App& schedule, const Commands& commands);

}  // namespace allot::cli
