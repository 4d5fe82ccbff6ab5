// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands/command.h"
#include "cli/sources/local.h"
#include "cli/sources/schedules.h"
#include "cli/words/terminal.h"
#include "cli/words/text.h"
#include "config/schedules.h"
#include "queue/schedules/configured.h"
#include "queue/schedules/schedule_store.h"

namespace allot::cli {
namespace {

struct ApplyOptions {
  std::string file;
  bool prune = false;
  bool dry_run = false;
  bool yes = false;
  bool json = false;
};

struct Plan {
  std::vector<queue::ScheduleSpec> specs;
  std::vector<std::string> added, changed, unchanged, removed;
};

Plan plan_of(db::Connection& db, const config::Settings& file, bool prune) {
  Plan plan;
  for (const config::Schedule& section : file.schedules) {
    const queue::ScheduleSpec& spec = plan.specs.emplace_back(queue::spec_of(section));
    const auto there = queue::find_schedule(db, spec.name);
    auto& list = !there ? plan.added : there->spec == spec ? plan.unchanged : plan.changed;
    list.push_back(spec.name);
  }
  if (!prune) return plan;
  for (const queue::Schedule& there : queue::list_schedules(db)) {
    const bool named = std::any_of(plan.specs.begin(), plan.specs.end(),
                                   [&](const auto& spec) { return spec.name == there.spec.name; });
    if (!named) plan.removed.push_back(there.spec.name);
  }
  return plan;
}

// Reports every mistake with its line before anything is written.
void check_file(db::Connection& db, const config::Settings& settings,
                const config::Settings& file) {
  config::Problems problems;
  queue::check_specs(file, problems);
  if (!problems.empty()) config::refuse(file.file, std::move(problems));
  for (const config::Schedule& section : file.schedules) {
    try {
      check_queue(db, settings, queue::spec_of(section));
    } catch (const db::DbError&) {
      throw;
    } catch (const Error& error) {
      const std::string text = error.what();
      const std::string field = text.substr(0, text.find_first_of(" :"));
      problems.push_back({config::line_of(file, "schedules." + section.name + "." + field),
                          "[schedules." + section.name + "] " + text});
    }
  }
  if (!problems.empty()) config::refuse(file.file, std::move(problems));
}

void say(const Plan& plan, const ApplyOptions& options) {
  const std::vector<std::pair<const char*, const std::vector<std::string>*>> lists = {
      {"added", &plan.added},
      {"changed", &plan.changed},
      {"unchanged", &plan.unchanged},
      {"removed", &plan.removed}};
  nlohmann::json report = {{"dry_run", options.dry_run}};
  for (const auto& [word, names] : lists) {
    report[word] = *names;
    if (options.json) continue;
    for (const std::string& name : *names) {
      const bool unchanged = names == &plan.unchanged;
      std::printf("%s%s %s\n", options.dry_run && !unchanged ? "would be " : "", word,
                  name.c_str());
    }
  }
  if (options.json) print(report);
}

void remove_if_there(const Local& allot, const std::string& name) {
  try {
    static_cast<void>(allot.remove(schedule_path(name)));
  } catch (const operations::Refusal& refused) {
    if (refused.problem().status != 404) throw;
  }
}

// allot schedule apply creates the schedules of a file, after all of them have been checked.
int apply(const Context& context, const ApplyOptions& options) {
  const config::Settings file = config::read_schedules(options.file);
  const Local allot(context);
  check_file(allot.db(), allot.settings(), file);
  const Plan plan = plan_of(allot.db(), file, options.prune);
  if (options.dry_run) {
    say(plan, options);
    return kExitOk;
  }
  if (!plan.removed.empty()) {
    confirm("remove",
            std::to_string(plan.removed.size()) + " schedule" +
                (plan.removed.size() == 1 ? "" : "s") + " that the file does not have",
            options.yes);
  }
  for (const queue::ScheduleSpec& spec : plan.specs) put_schedule(allot, spec);
  for (const std::string& name : plan.removed) remove_if_there(allot, name);
  say(plan, options);
  return kExitOk;
}

}  // namespace

void add_schedule_apply(CLI::App& schedule, const Commands& commands) {
  const auto [command, options] =
      commands.add(schedule, "apply", "Add or change the schedules of a file, all or none", apply);
  command
      .add_option("FILE", options->file,
                  "TOML file with sections [schedules.NAME], as in the configuration")
      ->required();
  command.add_flag("--prune", options->prune, "Remove the schedules that the file does not have");
  command.add_flag("--dry-run", options->dry_run, "Change nothing; show what would be changed");
  add_yes(command, options->yes, "Do not ask before --prune removes");
  commands.add_reason(command);
  command.get_option("--json")->description("Print the names as JSON");
}

}  // namespace allot::cli
