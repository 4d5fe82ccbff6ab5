// SPDX-License-Identifier: Apache-2.0
// Dispatcher for the commands. Each command and its options are in a file of their own (commands/);
// this file parses the command line and reports errors.
#include "cli/run.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "base/version.h"
#include "cli/commands/command.h"
#include "cli/remote/session.h"
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

// Prints "--batch LINES [1000]" without the list of excluded options; the error message names them
// when it matters.
class PlainHelp final : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override {
    const std::string named = option->get_type_name();
    const std::string type = named.substr(0, named.find(':'));  // checks follow the colon
    const std::string initial = option->get_default_str();
    return (type.empty() || option->get_positional() ? "" : " " + type) +
           (initial.empty() ? "" : " [" + initial + "]");
  }
};

int refuse(const CLI::App& app, const CLI::ParseError& error) {
  const auto chosen = app.get_subcommands();
  std::string problem = error.what();
  if (chosen.empty() && !app.remaining().empty()) {
    std::vector<std::string> known;
    for (const CLI::App* command : app.get_subcommands({})) known.push_back(command->get_name());
    const std::string word = app.remaining().front();
    problem = "'" + printable(word, 60) + "' is not " +
              (word.rfind('-', 0) == 0 ? "an option" : "a command" + did_you_mean(word, known));
  }
  std::fprintf(stderr, "%s %s (see allot%s --help)\n", error_head().c_str(),
               printable(problem, 500).c_str(),
               chosen.empty() ? "" : (" " + chosen.front()->get_name()).c_str());
  return kExitUsage;
}

void add_remote(CLI::App& app, remote::Options& options) {
  auto* config = app.get_option("--config");
  auto* embedded = app.get_option("--embedded");
  app.add_option(
         "--url", options.url,
         "Use this gateway instead of a database: https://HOST or unix:SOCKET; default: $ALLOT_URL")
      ->type_name("URL")
      ->excludes(config)
      ->excludes(embedded);
  app.add_option("--token-file", options.token_file,
                 "With --url: file that holds the token; default: the file $ALLOT_TOKEN_FILE, else "
                 "$ALLOT_TOKEN")
      ->type_name("FILE");
  app.add_option("--ca-file", options.ca_file,
                 "With --url: trust the authorities in this file instead of the system's")
      ->type_name("FILE");
}

int parse_and_run(int argc, char** argv) {
  CLI::App app{"allot: background jobs on MySQL and MariaDB", "allot"};
  app.set_version_flag("--version", std::string(kVersionMark));
  app.require_subcommand(1);
  app.fallthrough();
  app.footer(kExitCodes);
  app.formatter(std::make_shared<PlainHelp>());
  Context context;
  std::function<int()> chosen;  // called after all words are parsed
  app.add_option("--config", context.load.file,
                 "Configuration file; default: $ALLOT_CONFIG, else /etc/allot/allot.toml")
      ->type_name("FILE");
  app.add_option("--embedded", context.load.embedded, "Use the private database in this folder")
      ->type_name("DIR");
  add_remote(app, context.remote);
  const Commands commands{context, chosen, context.reason};
  for (const auto add :
       {add_submit,   add_tasks,   add_task,    add_history,  add_dead,    add_bulk,
        add_audit,    add_queue,   add_route,   add_schedule, add_lock,    add_why,
        add_doctor,   add_top,     add_drain,   add_plugin,   add_status,  add_minutes,
        add_failures, add_metrics, add_migrate, add_grants,   add_promote, add_reload,
        add_plugins,  add_config,  add_check,   add_gateway,  add_bench}) {
    add(app, commands);
  }
  // Used by the build to make manual pages and completions. Hidden from users, so it is not a
  // command.
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
  remote::complete(context.remote, !context.load.file.empty() || !context.load.embedded.empty());
  return chosen();
}

}  // namespace

int report(const std::string& message, int code) {
  std::istringstream lines(message);
  const std::string head = error_head();
  for (std::string line; std::getline(lines, line);) {
    std::fprintf(stderr, "%s %s\n", head.c_str(), printable(line, 4000).c_str());
  }
  return code;
}

int run(int argc, char** argv) {
  try {
    return parse_and_run(argc, argv);
  } catch (const Error& error) {
    return report(error.what(), error.exit_code());
  } catch (const std::exception& error) {
    return report(std::string("defect: ") + error.what(), kExitSoftware);
  }
}

}  // namespace allot::cli
