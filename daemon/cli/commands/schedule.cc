// SPDX-License-Identifier: Apache-2.0
#include "queue/schedules/schedule.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/commands/command.h"
#include "cli/sources/documents.h"
#include "cli/sources/schedules.h"
#include "cli/words/terminal.h"
#include "cli/words/text.h"
#include "json/base64.h"
#include "json/fields.h"
#include "queue/model/task.h"

namespace allot::cli {
namespace {

using nlohmann::json;

constexpr std::uint32_t kMostNext = 1000;
constexpr char kNoTime[] = "0s";

struct ScheduleOptions {
  std::string name;
  bool yes = false;  // of remove
  bool json = false;
};

struct NextOptions {
  std::string name;
  std::string expression;
  std::string zone = "UTC";
  std::uint32_t count = 5;
  bool json = false;
};

Column moment_column(const char* head, const char* field) {
  return {head, [field](const json& document) { return moment_text(document.at(field)); }};
}

int list_schedules(const Operations& allot, const ScheduleOptions& options) {
  const auto failed = [](const json& schedule) { return !schedule.at("error").is_null(); };
  return print_list(documents::items(allot, "/schedules"), options.json,
                    {{"NAME", "name"},
                     {"EXPRESSION", "expression"},
                     {"ZONE", "zone"},
                     {"QUEUE", "queue"},
                     {"TYPE", "type"},
                     moment_column("NEXT RUN", "next_run"),
                     moment_column("LAST RUN", "last_run"),
                     {"STATE", state_text, failed}});
}

std::string payload_text(const json& schedule) {
  if (!schedule.at("payload").is_null()) return cell_of(schedule, "payload");
  const auto payload = as_json::from_base64(schedule.at("payload_base64").get<std::string>());
  return printable(payload.value_or(""), kShownError);
}

std::string late_text(const json& schedule) {
  const bool all = schedule.at("late") == queue::name_of(queue::Late::kAll);
  return cell_of(schedule, "late") + " after " + cell_of(schedule, "late_after") +
         (all ? ", at most " + cell_of(schedule, "catch_up") : "");
}

std::string next_text(const json& schedule) {
  const bool spread = schedule.at("due_at") != schedule.at("next_run");
  return moment_text(schedule.at("next_run")) +
         (spread ? ", due at " + moment_text(schedule.at("due_at")) : "");
}

std::string last_text(const json& schedule) {
  const std::string task = cell_of(schedule, "last_task");
  return moment_text(schedule.at("last_run")) + (task.empty() ? "" : ", task " + task);
}

std::string ticks_text(const json& schedule) {
  return cell_of(schedule, "ticks") + ": " + cell_of(schedule, "submitted") + " submitted, " +
         cell_of(schedule, "skipped") + " skipped, " + cell_of(schedule, "dropped") + " dropped";
}

void print_schedule(const json& schedule) {
  const auto span = [](const char* field) {
    return Column(field, [field](const json& one) {
      return one.at(field) == kNoTime ? "" : cell_of(one, field);
    });
  };
  const auto unique_for = [](const json& one) {
    return one.at("unique_key").is_null() ? "" : cell_of(one, "unique_for");
  };
  const auto made_by = [](const json& one) {
    return one.at("configured") ? "a configuration, revision " + cell_of(one, "revision") : "";
  };
  print_fields(schedule, 14,
               {{"name", "name"},
                {"expression", "expression"},
                {"zone", "zone"},
                {"queue", "queue"},
                {"type", "type"},
                {"payload", payload_text},
                {"prio", "prio"},
                span("delay"),
                {"unique_key", "unique_key"},
                {"unique_for", unique_for},
                {"partition_key", "partition_key"},
                span("expires_in"),
                {"late", late_text},
                {"overlap", "overlap"},
                span("jitter"),
                {"tick_field", "tick_field"},
                {"state", state_text},
                {"next run", next_text},
                {"last run", last_text},
                {"ticks", ticks_text},
                {"made by", made_by}});
}

int show_schedule(const Operations& allot, const ScheduleOptions& options) {
  const json schedule = allot.read(schedule_path(options.name));
  return print_as(options.json, schedule, [&] {
    print_schedule(schedule);
    print_below(schedule.at("last_ticks"), {moment_column("TICK", "tick"),
                                            moment_column("AT", "at"),
                                            moment_column("TASK", "task"),
                                            {"REASON", "reason"}});
  });
}

// allot schedule next shows the next runs; an expression needs no database.
int next_runs(const Operations& allot, const NextOptions& options) {
  std::string expression = options.expression;
  std::string zone = options.zone;
  std::vector<queue::Moment> runs;
  queue::Moment after =
      std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
  if (!options.name.empty()) {
    const json schedule = allot.read(schedule_path(options.name));
    expression = schedule.at("expression");
    zone = schedule.at("zone");
    if (const json& next = schedule.at("next_run"); !next.is_null()) {
      after = as_json::parse_moment("next_run", next.get<std::string>());
      runs.push_back(after);
    }
    if (!schedule.at("paused").is_null()) {
      std::fprintf(stderr, "allot: the schedule is %s; no task is submitted until it is resumed\n",
                   state_text(schedule).c_str());
    }
  }
  const Calendar calendar(expression, zone);
  while (runs.size() < options.count) {
    const auto next = calendar.next(after);
    if (!next) break;
    runs.push_back(after = *next);
  }
  json list = json::array();
  for (const queue::Moment run : runs) {
    list.push_back({{"utc", moment_text(run)}, {"local", calendar.local(run)}});
  }
  return print_list(list, options.json, {{"UTC", "utc"}, {zone, "local"}});
}

int pause_schedule(const Operations& allot, const ScheduleOptions& options) {
  const std::string path = schedule_path(options.name);
  const bool was = !allot.read(path).at("paused").is_null();
  const json now = allot.post(path + "/pause", json::object());
  return print_change(
      "schedule", now,
      was ? "was already paused, since " + moment_text(now.at("paused").at("since")) : "is paused",
      options.json);
}

int resume_schedule(const Operations& allot, const ScheduleOptions& options) {
  const std::string path = schedule_path(options.name);
  const bool was = !allot.read(path).at("paused").is_null();
  return print_change("schedule", allot.post(path + "/resume", json::object()),
                      was ? "is resumed" : "was not paused", options.json);
}

int run_schedule(const Operations& allot, const ScheduleOptions& options) {
  const json made = allot.post(schedule_path(options.name) + "/run-now", json::object());
  return print_as(options.json, made,
                  [&] { std::printf("%s\n", made.at("task").get<std::string>().c_str()); });
}

int remove_schedule(const Operations& allot, const ScheduleOptions& options) {
  const std::string path = schedule_path(options.name);
  const json schedule = allot.read(path);
  confirm("remove",
          "schedule " + options.name + " (" + schedule.at("expression").get<std::string>() + ")",
          options.yes);
  const json removed = allot.remove(path);
  if (removed.at("configured").get<bool>()) {
    std::fprintf(
        stderr,
        "allot: this schedule comes from a configuration; as long as a file has its section, the "
        "next start of that daemon creates it again\n");
  }
  return print_change("schedule", removed, "is removed", options.json);
}

void add_next(CLI::App& schedule, const Commands& commands) {
  const auto added = commands.add(schedule, "next",
                                  "Show the next runs of a schedule or an expression", next_runs);
  CLI::App& next = added.command;
  const auto& options = added.options;
  auto* name = next.add_option("NAME", options->name, "The schedule");
  auto* expression =
      add_text(next, "--expression", "TEXT", options->expression, "Expression; needs no database")
          .excludes(name);
  add_text(next, "--zone", "ZONE", options->zone, "The time zone of --expression")
      .needs(expression);
  add_number(next, "--count", "RUNS", options->count, kMostNext, "Number of runs");
  next.callback([commands, options, name, expression] {
    if (name->empty() && expression->empty()) throw CLI::RequiredError("NAME or --expression");
    commands.choose(next_runs, options);
  });
}

}  // namespace

void add_schedule(CLI::App& app, const Commands& commands) {
  CLI::App& schedule = *app.add_subcommand("schedule", "Add, show, pause or remove schedules");
  schedule.require_subcommand(1);
  add_schedule_add(schedule, commands);
  const auto add = [&](const char* name, const char* text,
                       int (*run)(const Operations&, const ScheduleOptions&)) {
    auto added = commands.add(schedule, name, text, run);
    added.command.add_option("NAME", added.options->name, "The schedule")->required();
    return added;
  };
  const auto operate = [&](const char* name, const char* text,
                           int (*run)(const Operations&, const ScheduleOptions&)) {
    auto added = add(name, text, run);
    commands.add_reason(added.command);
    return added;
  };
  commands.add(schedule, "list", "List the schedules", list_schedules);
  add("show", "Show a schedule and its last 20 ticks", show_schedule);
  add_next(schedule, commands);
  operate("pause", "Pause a schedule: it submits no tasks, and ticks during the pause are dropped",
          pause_schedule);
  operate("resume", "Resume a paused schedule from its next tick", resume_schedule);
  operate("run-now", "Submit a task of a schedule now, and print its id", run_schedule);
  const auto removal = operate("remove", "Remove a schedule; its tasks stay", remove_schedule);
  add_yes(removal.command, removal.options->yes);
  add_schedule_apply(schedule, commands);
  add_schedule_import(schedule, commands);
}

}  // namespace allot::cli
