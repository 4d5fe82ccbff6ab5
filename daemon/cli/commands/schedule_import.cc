// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "cli/commands/command.h"
#include "cli/sources/input.h"
#include "cli/sources/local.h"
#include "cli/sources/schedules.h"
#include "cli/words/crontab.h"
#include "cli/words/text.h"
#include "queue/schedules/schedule_store.h"

namespace allot::cli {
namespace {

using nlohmann::json;

constexpr std::size_t kMostCrontab = std::size_t{4} << 20;

struct ImportOptions {
  std::string file;
  std::string queue = "default";
  std::string type = "crontab.line";
  std::string zone;  // empty: each line names its own
  bool user_column = false;
  bool dry_run = false;
  bool json = false;
};

struct Import {
  struct One {
    std::uint32_t number = 0;
    queue::ScheduleSpec spec;
  };
  std::vector<One> specs;
  std::vector<CrontabRemark> left, remarks;
};

std::string text_in(const std::string& file) {
  Input input(file);
  std::string text = input.read_all(kMostCrontab);
  if (text.size() <= kMostCrontab) return text;
  throw Error(input.name() + ": larger than 4 MiB, the limit for a crontab", kExitBadInput);
}

// Selects the lines that become a schedule; each of the others gets a reason.
Import import_of(db::Connection& db, const config::Settings& settings,
                 const ImportOptions& options) {
  Crontab crontab = parse_crontab(text_in(options.file), options.user_column);
  Import import{{}, std::move(crontab.left), std::move(crontab.remarks)};
  std::set<std::string> names;
  for (const CrontabLine& line : crontab.lines) {
    const auto leave = [&](const std::string& why) { import.left.push_back({line.number, why}); };
    const std::string& zone = line.zone.empty() ? options.zone : line.zone;
    if (zone.empty()) {
      leave("no zone: cron uses the zone of its host; name it with --zone");
      continue;
    }
    queue::ScheduleSpec spec;
    spec.name = name_of(line, zone);
    spec.expression = line.expression;
    spec.zone = zone;
    spec.queue = options.queue;
    spec.type = options.type;
    spec.payload = script_of(line);
    try {
      static_cast<void>(Calendar(spec.expression, spec.zone));
      queue::validate(spec);
    } catch (const Error& error) {
      leave(error.what());
      continue;
    }
    check_queue(db, settings, spec);
    if (!names.insert(spec.name).second) {
      leave("the same line occurs above");
    } else if (queue::find_schedule(db, spec.name)) {
      leave("schedule " + spec.name + " exists already and is not changed");
    } else {
      import.specs.push_back({line.number, std::move(spec)});
    }
  }
  const auto by_line = [](const auto& a, const auto& b) { return a.number < b.number; };
  std::stable_sort(import.left.begin(), import.left.end(), by_line);
  return import;
}

json remarks_json(const std::vector<CrontabRemark>& remarks) {
  json list = json::array();
  for (const CrontabRemark& remark : remarks) {
    list.push_back({{"line", remark.number}, {"text", remark.text}});
  }
  return list;
}

void say_remarks(const std::vector<CrontabRemark>& remarks, const char* what) {
  for (const CrontabRemark& remark : remarks) {
    std::fprintf(stderr, "allot: line %u %s: %s\n", remark.number, what,
                 printable(remark.text, 500).c_str());
  }
}

// Without the section the tasks would wait for a handler that does not exist.
void say_section(const config::Settings& settings, const std::string& type) {
  const auto exec = settings.plugins.sections.find("exec");
  if (exec != settings.plugins.sections.end() &&
      (exec->second.contains("types.\"" + type + "\".command") ||
       exec->second.contains("types." + type + ".command"))) {
    return;
  }
  std::printf(
      "# With this configuration a shell runs the tasks, once each as with cron:\n"
      "[plugins.exec.types.\"%s\"]\ncommand = [\"/bin/sh\"]\n[types.\"%s\"]\nmax_attempts = 1\n",
      type.c_str(), type.c_str());
}

// allot schedule import-crontab makes a schedule of each line whose meaning it can preserve.
int import_crontab(const Context& context, const ImportOptions& options) {
  const Local allot(context);
  const Import import = import_of(allot.db(), allot.settings(), options);
  json made = json::array();
  for (const Import::One& one : import.specs) {
    const queue::ScheduleSpec& spec = one.spec;
    if (!options.dry_run) put_schedule(allot, spec);
    const auto first = Calendar(spec.expression, spec.zone).next(queue::database_now(allot.db()));
    made.push_back({{"line", one.number},
                    {"name", spec.name},
                    {"expression", spec.expression},
                    {"zone", spec.zone},
                    {"next_run", as_json::moment(first)}});
    if (options.json) continue;
    std::printf("line %u %s schedule %s (%s, %s), which runs first at %s\n", one.number,
                options.dry_run ? "would be" : "is", spec.name.c_str(), spec.expression.c_str(),
                spec.zone.c_str(), (first ? moment_text(*first) : "-").c_str());
  }
  const json report{{"dry_run", options.dry_run},
                    {"created", made},
                    {"skipped", remarks_json(import.left)},
                    {"remarks", remarks_json(import.remarks)}};
  print_as(options.json, report, [&] {
    say_remarks(import.remarks, "differs");
    say_remarks(import.left, "is not converted");
    if (!import.specs.empty()) say_section(allot.settings(), options.type);
  });
  return import.left.empty() ? kExitOk : kExitFailure;
}

}  // namespace

void add_schedule_import(CLI::App& schedule, const Commands& commands) {
  const auto [command, options] = commands.add(
      schedule, "import-crontab",
      "Add a schedule for each line of a crontab, and report the lines that cannot be converted",
      import_crontab);
  command.add_option("FILE", options->file, "The crontab; - is standard input")->required();
  add_text(command, "--queue", "QUEUE", options->queue, "The queue of the schedules");
  add_text(command, "--type", "TYPE", options->type,
           "Type of the tasks, run by the plugin exec with a shell that reads the payload");
  add_text(command, "--zone", "ZONE", options->zone,
           "Time zone of lines without CRON_TZ above them; cron uses the zone of its host");
  command.add_flag("--user-column", options->user_column,
                   "The sixth field of a line is an account, as in /etc/crontab");
  command.add_flag("--dry-run", options->dry_run, "Change nothing; show what would be changed");
  commands.add_reason(command);
}

}  // namespace allot::cli
