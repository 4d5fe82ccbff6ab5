// SPDX-License-Identifier: Apache-2.0
// allot: the command line. Each command is a function of its own file; this one only knows the
// words.
#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>

#include "base/version.h"
#include "cli/admin.h"
#include "cli/status.h"
#include "cli/submit.h"
#include "cli/tasks.h"

namespace allot::cli {
namespace {

void add_submit(CLI::App& app, const Context& context, SubmitOptions& options, int& code) {
  CLI::App* command = app.add_subcommand("submit", "Submit a task, or one for each line of a file");
  auto* queue = command->add_option("queue", options.queue, "The queue");
  auto* type = command->add_option("type", options.type, "The task's type: which handler runs it");
  auto* payload = command->add_option("payload", options.payload,
                                      "The payload; - reads it from standard input");
  auto* file = command->add_option("--file", options.file, "Read the payload from this file");
  command->add_option("--prio", options.prio, "Class 0 (first) to 3 (last)")->capture_default_str();
  auto* ndjson = command->add_option("--ndjson", options.ndjson,
                                     "Submit each line of this file (- is standard input): "
                                     "{\"queue\", \"type\", \"payload\", \"prio\"}");
  command
      ->add_option("--batch", options.batch, "With --ndjson: lines per transaction, all or nothing")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str()
      ->needs(ndjson);
  command->add_option("--from-line", options.from_line, "With --ndjson: begin with this line")
      ->check(CLI::PositiveNumber)
      ->needs(ndjson);
  command->add_flag("--ids", options.ids, "With --ndjson: print the ids")->needs(ndjson);
  file->excludes(payload)->excludes(ndjson);
  ndjson->excludes(queue)->excludes(type)->excludes(payload);
  command->callback([&, queue, type] {
    if (options.ndjson.empty() && (queue->empty() || type->empty())) {
      throw CLI::RequiredError("QUEUE and TYPE, or --ndjson FILE");
    }
    code = submit(context, options);
  });
}

void add_tasks(CLI::App& app, const Context& context, TasksOptions& options, int& code) {
  CLI::App* command = app.add_subcommand("tasks", "List waiting or dead tasks");
  command->add_option("--queue", options.queue, "Only of this queue");
  command->add_flag("--dead", options.dead, "The dead ones");
  command->add_option("--limit", options.limit, "At most so many of each queue")
      ->capture_default_str();
  command->add_flag("--json", options.json, "As JSON");
  command->callback([&] { code = tasks(context, options); });
}

int run(int argc, char** argv) {
  CLI::App app{"allot: background jobs on MySQL and MariaDB", "allot"};
  app.set_version_flag("--version", std::string(kVersionMark));
  app.require_subcommand(1);
  app.fallthrough();
  int code = kExitOk;
  Context context;
  app.add_option("--config", context.load.file,
                 "Configuration; else $ALLOT_CONFIG, else /etc/allot/allot.toml");
  app.add_option("--embedded", context.load.embedded, "Use the private database in this folder");

  SubmitOptions submit_options;
  add_submit(app, context, submit_options, code);
  TasksOptions tasks_options;
  add_tasks(app, context, tasks_options, code);

  bool json = false;
  CLI::App* status_command = app.add_subcommand("status", "Show queues and this host's workers");
  status_command->add_flag("--json", json, "As JSON");
  status_command->callback([&] { code = status(context, json); });

  std::string id;
  bool payload = false;
  CLI::App* task = app.add_subcommand("task", "Look at one task");
  task->require_subcommand(1);
  CLI::App* show =
      task->add_subcommand("show", "Show a waiting or dead task and its failed attempts");
  show->add_option("id", id, "The task's id")->required();
  show->add_flag("--json", json, "As JSON");
  show->add_flag("--payload", payload, "Write the payload's bytes and nothing else");
  show->callback([&] { code = show_task(context, id, json, payload); });

  app.add_subcommand("migrate", "Bring the database schema up to date")->callback([&] {
    code = migrate(context);
  });
  CLI::App* plugins = app.add_subcommand("plugins", "List the plugins, or why one is refused");
  plugins->add_flag("--json", json, "As JSON");
  plugins->callback([&] {
    std::vector<std::string> words{"--plugins"};
    if (json) words.emplace_back("--json");
    code = run_worker_program(context, words);
  });
  app.add_subcommand("check", "Check configuration, plugins and database")->callback([&] {
    code = run_worker_program(context, {"--check", "all"});
  });

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kExitOk : kExitUsage;
  }
  return code;
}

}  // namespace
}  // namespace allot::cli

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  try {
    const int code = allot::cli::run(argc, argv);
    // What was printed into a full disk or a closed pipe was not delivered.
    return std::fflush(stdout) == 0 ? code : static_cast<int>(allot::kExitFailure);
  } catch (const allot::Error& error) {
    std::fprintf(stderr, "allot: %s\n", error.what());
    return error.exit_code();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "allot: defect: %s\n", error.what());
    return allot::kExitSoftware;
  }
}
