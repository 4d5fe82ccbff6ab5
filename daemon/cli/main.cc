// SPDX-License-Identifier: Apache-2.0
// allot, the command line. Each command is a function in a file of its own; this file only knows
// the words.
#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <sstream>

#include "base/version.h"
#include "cli/commands/admin.h"
#include "cli/commands/config.h"
#include "cli/commands/history.h"
#include "cli/commands/operators.h"
#include "cli/commands/plugin.h"
#include "cli/commands/status.h"
#include "cli/commands/submit.h"
#include "cli/commands/tasks.h"
#include "cli/words/due.h"
#include "cli/words/manual.h"
#include "cli/words/terminal.h"
#include "cli/words/text.h"
#include "cli/words/word_tree.h"

namespace allot::cli {
namespace {

constexpr char kExitCodes[] =
    "Exit codes: 0 done; 1 failed; 64 wrong command line; 65 wrong payload or NDJSON line;\n"
    "66 unreadable input file; 69 database away, read-only or full; 70 defect of Allot;\n"
    "73 folder or file cannot be made; 75 outcome of a submission unknown; 78 configuration,\n"
    "plugins, credentials or schema";

// "--batch LINES [1000]": a message says which options exclude each other when that happens.
class PlainHelp final : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override {
    const std::string named = option->get_type_name();
    const std::string type = named.substr(0, named.find(':'));  // checks follow
    const std::string initial = option->get_default_str();
    return (type.empty() || option->get_positional() ? "" : " " + type) +
           (initial.empty() ? "" : " [" + initial + "]");
  }
};

struct Words {
  Context context;
  SubmitWords submit;
  BulkOptions bulk;
  TasksOptions tasks;
  HistoryOptions history;
  ShowOptions show;
  FindOptions find;
  PluginCheckOptions plugin_check;
  NewPluginOptions new_plugin;
  OperatorWords operators;
  bool json = false;
  std::function<int()> command;  // runs once all words are parsed
};

// Adds an option for each member of SubmitOptions, under the same name. Returns them, because
// --ndjson excludes them.
std::vector<CLI::Option*> add_task_options(CLI::App& command, queue::SubmitOptions& options) {
  const auto add_key = [&](const char* name, std::optional<std::string>& key, const char* text) {
    return command.add_option(name, key, text)->type_name("KEY");
  };
  const auto add_time = [&](const std::string& name, std::chrono::microseconds& time,
                            const char* text) {
    const auto read = [name, &time](const std::string& word) { time = parse_delay(name, word); };
    return command.add_option_function<std::string>(name, read, text)->type_name("TIME");
  };
  const auto add_moment = [&](const std::string& name, std::optional<queue::Moment>& moment,
                              const char* text) {
    const auto read = [name, &moment](const auto& word) { moment = parse_moment(name, word); };
    return command.add_option_function<std::string>(name, read, text)->type_name("MOMENT");
  };
  auto* prio = command.add_option("--prio", options.prio, "Class 0 (first) to 3 (last)")
                   ->check(CLI::Range(0U, queue::kPrioClasses - 1))
                   ->type_name("CLASS")
                   ->capture_default_str();
  auto* delay =
      add_time("--delay", options.delay, "Not before so long from now: 300ms, 30s, 5m, 2h");
  auto* run_at = add_moment("--run-at", options.run_at, "Not before then: 2026-12-24T18:00:00Z");
  auto* unique_key = add_key("--unique-key", options.unique_key,
                             "Only one task of the queue has this key: prints that one's id if "
                             "there is one");
  auto* unique_for = add_time("--unique-for", options.unique_for,
                              "How long the key stays taken after the task has finished [5m]; a "
                              "death or a cancel frees it at once");
  auto* partition_key = add_key("--partition-key", options.partition_key,
                                "In an ordered, limited or fair queue: what its tasks belong to");
  auto* expires_in =
      add_time("--expires-in", options.expires_in, "Dead unless it has begun so long from now");
  auto* expires_at =
      add_moment("--expires-at", options.expires_at, "Dead unless it has begun by then");
  auto* compress_above =
      command
          .add_option("--compress-above", options.compress_above,
                      "Compress a payload of more bytes; 0: never [as the queue's settings say]")
          ->type_name("BYTES");
  auto* compression =
      command
          .add_option_function<std::string>(
              "--compression",
              [&](const auto& name) { options.compression = *queue::compression_of(name); },
              "How the payload is compressed already: gzip or zstd")
          ->check(CLI::IsMember({"gzip", "zstd"}))
          ->type_name("NAME");
  delay->excludes(run_at);
  unique_for->needs(unique_key);
  expires_in->excludes(expires_at);
  return {prio,          delay,      run_at,     unique_key,     unique_for,
          partition_key, expires_in, expires_at, compress_above, compression};
}

void add_submit(CLI::App& app, Words& words) {
  CLI::App* command = app.add_subcommand("submit", "Submit a task, or one for each line of a file");
  SubmitWords& one = words.submit;
  BulkOptions& bulk = words.bulk;
  auto* queue = command->add_option("QUEUE", one.queue, "The queue");
  auto* type = command->add_option("TYPE", one.type, "The task's type: which handler runs it");
  auto* payload = command->add_option(
      "PAYLOAD", one.payload, "The payload; - reads it from standard input; none is an empty one");
  auto* file = command->add_option("--file", one.file, "Read the payload from this file");
  auto* ndjson =
      command->add_option("--ndjson", bulk.ndjson,
                          "Submit each line of this file (- is standard input): an object with "
                          "queue, type, payload, and what the options below are, with _ for -");
  file->type_name("FILE");
  ndjson->type_name("FILE");
  for (CLI::Option* option : add_task_options(*command, one.options)) ndjson->excludes(option);
  command->add_option("--batch", bulk.batch, "Lines per transaction, all or nothing")
      ->check(CLI::Range(1, 100'000))
      ->type_name("LINES")
      ->capture_default_str()
      ->needs(ndjson);
  command->add_option("--from-line", bulk.from_line, "Begin with this line")
      ->check(CLI::PositiveNumber)
      ->type_name("LINE")
      ->needs(ndjson);
  auto* ids = command->add_flag("--ids", bulk.ids, "Print the id of each task")->needs(ndjson);
  command
      ->add_flag("--json", words.json,
                 "Print the id, or what --ndjson submitted and how to go on, as JSON")
      ->excludes(ids);
  file->excludes(payload)->excludes(ndjson);
  ndjson->excludes(queue)->excludes(type)->excludes(payload);
  command->callback([&words, queue, type] {
    words.submit.json = words.bulk.json = words.json;
    if (!words.bulk.ndjson.empty()) {
      words.command = [&words] { return submit_lines(words.context, words.bulk); };
      return;
    }
    if (queue->empty() || type->empty()) throw CLI::RequiredError("QUEUE and TYPE, or --ndjson,");
    words.command = [&words] { return submit(words.context, words.submit); };
  });
}

void add_tasks(CLI::App& app, Words& words) {
  CLI::App* list = app.add_subcommand("tasks", "List waiting and detached tasks");
  list->add_option("--queue", words.tasks.queue, "Only of this queue")->type_name("QUEUE");
  list->add_option("--limit", words.tasks.limit, "At most so many of each queue")
      ->check(CLI::Range(1, 1'000'000))
      ->type_name("TASKS")
      ->capture_default_str();
  list->add_flag("--json", words.tasks.json, "As JSON");
  list->callback([&] { words.command = [&words] { return tasks(words.context, words.tasks); }; });

  CLI::App* task = app.add_subcommand("task", "Look at one task, or cancel it");
  task->require_subcommand(1);
  CLI::App* show =
      task->add_subcommand("show", "Show a task that is not forgotten, and its failed attempts");
  show->add_option("ID", words.show.id, "The task's id")->required();
  auto* json = show->add_flag("--json", words.show.json, "As JSON");
  show->add_flag("--payload", words.show.payload, "Write the payload's bytes and nothing else")
      ->excludes(json);
  show->callback(
      [&] { words.command = [&words] { return show_task(words.context, words.show); }; });
  CLI::App* find = task->add_subcommand("find", "Say which task has a unique key, and its state");
  find->add_option("QUEUE", words.find.queue, "The queue")->required();
  find->add_option("--unique-key", words.find.unique_key, "The key")->required()->type_name("KEY");
  find->add_flag("--json", words.find.json, "As JSON");
  find->callback(
      [&] { words.command = [&words] { return find_task(words.context, words.find); }; });
}

void add_history(CLI::App& app, Words& words) {
  CLI::App* list =
      app.add_subcommand("history", "List finished tasks of queues that keep a history");
  list->add_option("--queue", words.history.queue, "Only of this queue")->type_name("QUEUE");
  list->add_option("--type", words.history.type, "Only of this type")->type_name("TYPE");
  list->add_option("--after", words.history.after, "The next page: what ended before this task")
      ->type_name("ID");
  list->add_option("--limit", words.history.limit, "At most so many of each queue")
      ->check(CLI::Range(1, 1'000'000))
      ->type_name("TASKS")
      ->capture_default_str();
  list->add_flag("--json", words.history.json, "As JSON");
  list->callback(
      [&] { words.command = [&words] { return history(words.context, words.history); }; });
}

void add_others(CLI::App& app, Words& words) {
  CLI::App* look = app.add_subcommand("status", "Show the queues and this host's workers");
  look->add_flag("--json", words.json, "As JSON");
  look->callback([&] { words.command = [&words] { return status(words.context, words.json); }; });

  CLI::App* bring = app.add_subcommand("migrate", "Bring the schema up to date, make the queues");
  bring->add_flag("--json", words.json, "As JSON");
  bring->callback([&] { words.command = [&words] { return migrate(words.context, words.json); }; });

  CLI::App* plugins = app.add_subcommand("plugins", "List the plugins, or why one is refused");
  plugins->add_flag("--json", words.json, "As JSON");
  plugins->callback([&] {
    words.command = [&words] {
      std::vector<std::string> arguments{"--plugins"};
      if (words.json) arguments.emplace_back("--json");
      return run_worker_program(words.context, arguments);
    };
  });
  CLI::App* settings =
      app.add_subcommand("config", "Show what is in force, and where each value came from");
  settings->add_flag("--json", words.json, "As JSON");
  settings->callback(
      [&] { words.command = [&words] { return show_config(words.context, words.json); }; });

  CLI::App* check = app.add_subcommand("check", "Check configuration, plugins and database");
  check->add_flag("--json", words.json, "As JSON");
  check->callback([&] {
    words.command = [&words] {
      std::vector<std::string> arguments{"--check", "all"};
      if (words.json) arguments.emplace_back("--json");
      return run_worker_program(words.context, arguments);
    };
  });

  CLI::App* bench = app.add_subcommand("bench", "Measure this machine: allot bench --help");
  bench->prefix_command()
      ->fallthrough(false)
      ->set_help_flag();  // all words belong to the other program
  bench->callback([&words, bench] {
    words.command = [bench] { return run_program("allot-bench", bench->remaining()); };
  });
}

void add_plugin(CLI::App& app, Words& words) {
  CLI::App* plugin = app.add_subcommand("plugin", "Write a plugin, or check one");
  plugin->require_subcommand(1);
  CLI::App* make = plugin->add_subcommand("new", "Write a project: handler, test, CMakeLists.txt");
  make->add_option("NAME", words.new_plugin.name, "Of the plugin and its task type")->required();
  make->add_option("--dir", words.new_plugin.folder, "The folder to write it to; else ./NAME")
      ->type_name("DIR");
  make->add_flag("--json", words.new_plugin.json, "As JSON");
  make->callback([&] { words.command = [&words] { return new_plugin(words.new_plugin); }; });

  CLI::App* check =
      plugin->add_subcommand("check", "Say what plugin files offer, or why they are refused");
  check->add_option("FILE", words.plugin_check.files, "Shared objects (.so)")->required();
  check->add_flag("--init", words.plugin_check.init,
                  "Also make the handlers, with the configuration, as a worker's start does");
  check->add_flag("--json", words.plugin_check.json, "As JSON");
  check->callback([&] {
    words.command = [&words] { return check_plugins(words.context, words.plugin_check); };
  });
}

int refuse(const CLI::App& app, const CLI::ParseError& error) {
  const auto chosen = app.get_subcommands();
  std::string problem = error.what();
  if (chosen.empty() && !app.remaining().empty()) {
    std::vector<std::string> known;
    for (const CLI::App* command : app.get_subcommands({})) known.push_back(command->get_name());
    const std::string word = app.remaining().front();
    problem = "'" + printable(word, 60) + "' is no " +
              (word.rfind('-', 0) == 0 ? "option" : "command" + did_you_mean(word, known));
  }
  std::fprintf(stderr, "%s %s (see allot%s --help)\n", error_head().c_str(),
               printable(problem, 500).c_str(),
               chosen.empty() ? "" : (" " + chosen.front()->get_name()).c_str());
  return kExitUsage;
}

int run(int argc, char** argv) {
  CLI::App app{"allot: background jobs on MySQL and MariaDB", "allot"};
  app.set_version_flag("--version", std::string(kVersionMark));
  app.require_subcommand(1);
  app.fallthrough();
  app.footer(kExitCodes);
  app.formatter(std::make_shared<PlainHelp>());
  Words words;
  app.add_option("--config", words.context.load.file,
                 "Configuration; else $ALLOT_CONFIG, else /etc/allot/allot.toml")
      ->type_name("FILE");
  app.add_option("--embedded", words.context.load.embedded,
                 "Use the private database in this folder")
      ->type_name("DIR");
  add_submit(app, words);
  add_tasks(app, words);
  add_history(app, words);
  add_operators(app, words.context, words.operators, words.command);
  add_plugin(app, words);
  add_others(app, words);
  // This is not for people, so it is no word of the command line: the build makes manual pages and
  // completions with it.
  if (argc == 4 && std::strcmp(argv[1], "--write-manual") == 0) {
    write_manual(word_tree(app), argv[2], argv[3]);
    return kExitOk;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    return refuse(app, error);
  }
  return words.command();
}

// A message may have several lines, as each mistake of a configuration file has its own.
int report(const std::string& message, int code) {
  std::istringstream lines(message);
  const std::string head = error_head();
  for (std::string line; std::getline(lines, line);) {
    std::fprintf(stderr, "%s %s\n", head.c_str(), printable(line, 4000).c_str());
  }
  return code;
}

// If our caller closed these descriptors, files that we open must not get their numbers. We open
// them the wrong way around, so that each use fails.
void keep_standard_streams() {
  for (int fd = 0; fd <= 2; ++fd) {
    if (fcntl(fd, F_GETFD) < 0) (void)!open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
  }
}

}  // namespace
}  // namespace allot::cli

int main(int argc, char** argv) {
  using namespace allot;
  cli::keep_standard_streams();
  std::signal(SIGPIPE, SIG_IGN);
  int code = kExitSoftware;
  try {
    code = cli::run(argc, argv);
  } catch (const Error& error) {
    code = cli::report(error.what(), error.exit_code());
  } catch (const std::exception& error) {
    code = cli::report(std::string("defect: ") + error.what(), kExitSoftware);
  }
  // Output that went to a full disk or a closed pipe was not delivered.
  if ((std::fflush(stdout) != 0 || std::ferror(stdout) != 0) && code == kExitOk) {
    return cli::report(std::string("it is done, but the output was lost: ") + std::strerror(errno),
                       kExitFailure);
  }
  return code;
}
