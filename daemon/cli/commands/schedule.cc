// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/schedule.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/commands/command.h"
#include "cli/sources/calendar.h"
#include "cli/sources/documents.h"
#include "cli/words/confirm.h"
#include "cli/words/listing.h"
#include "cli/words/schedule_view.h"
#include "cli/words/task_view.h"
#include "cli/words/terminal.h"
#include "cli/words/text.h"
#include "json/base64.h"
#include "json/due.h"
#include "json/fields.h"
#include "queue/model/task.h"
#include "queue/schedules/schedule.h"

namespace allot::cli {
namespace {

using nlohmann::json;

constexpr int kMostNext = 1000;
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

int list_schedules(const Operations& allot, const ScheduleOptions& options) {
  Listing list({"NAME", "EXPRESSION", "ZONE", "QUEUE", "TYPE", "NEXT RUN", "LAST RUN", "STATE"},
               options.json);
  for (const json& schedule : documents::items(allot, "/schedules")) {
    list.add(schedule,
             {schedule.at("name"), schedule.at("expression"), schedule.at("zone"),
              schedule.at("queue"), schedule.at("type"), moment_text(schedule.at("next_run")),
              moment_text(schedule.at("last_run")), state_text(schedule)},
             schedule.at("error").is_null() ? std::nullopt : std::optional<std::size_t>(7));
  }
  list.print();
  return kExitOk;
}

void say_field(const char* field, const std::string& text) {
  std::printf("%-14s %s\n", field, text.c_str());
}

std::string payload_of(const json& schedule) {
  if (!schedule.at("payload").is_null()) return schedule.at("payload");
  return as_json::from_base64(schedule.at("payload_base64").get<std::string>()).value_or("");
}

void print_task(const json& schedule) {
  const auto say_span = [&](const char* field) {
    if (!schedule.at(field).is_null() && schedule.at(field) != kNoTime) {
      say_field(field, schedule.at(field));
    }
  };
  const auto say_key = [&](const char* field) {
    if (schedule.at(field).is_null()) return;
    say_field(field, printable(schedule.at(field).get<std::string>(), kShownError));
  };
  for (const char* field : {"name", "expression", "zone", "queue", "type"}) {
    say_field(field, schedule.at(field));
  }
  const std::string payload = payload_of(schedule);
  if (!payload.empty()) say_field("payload", printable(payload, kShownError));
  say_field("prio", schedule.at("prio").dump());
  say_span("delay");
  say_key("unique_key");
  if (!schedule.at("unique_key").is_null()) say_field("unique_for", schedule.at("unique_for"));
  say_key("partition_key");
  say_span("expires_in");
  const bool all = schedule.at("late") == queue::name_of(queue::Late::kAll);
  say_field("late", schedule.at("late").get<std::string>() + " after " +
                        schedule.at("late_after").get<std::string>() +
                        (all ? ", at most " + schedule.at("catch_up").dump() : ""));
  say_field("overlap", schedule.at("overlap"));
  say_span("jitter");
  say_key("tick_field");
}

void print_state(const json& schedule) {
  say_field("state", state_text(schedule));
  const bool spread = schedule.at("due_at") != schedule.at("next_run");
  say_field("next run", moment_text(schedule.at("next_run")) +
                            (spread ? ", due at " + moment_text(schedule.at("due_at")) : ""));
  const json& task = schedule.at("last_task");
  say_field("last run", moment_text(schedule.at("last_run")) +
                            (task.is_null() ? "" : ", task " + task.get<std::string>()));
  say_field("ticks", schedule.at("ticks").dump() + ": " + schedule.at("submitted").dump() +
                         " submitted, " + schedule.at("skipped").dump() + " skipped, " +
                         schedule.at("dropped").dump() + " dropped");
  if (schedule.at("configured").get<bool>()) {
    say_field("made by", "a configuration, revision " + schedule.at("revision").dump());
  }
}

void print_ticks(const json& ticks) {
  if (ticks.empty()) return;
  Table table({"TICK", "AT", "TASK", "REASON"});
  for (const json& tick : ticks) {
    table.add({moment_text(tick.at("tick")), moment_text(tick.at("at")),
               moment_text(tick.at("task")),
               printable(as_json::text_in(tick, "reason"), kShownError)});
  }
  std::printf("\n%s", table.text(wants_colour(STDOUT_FILENO)).c_str());
}

int show_schedule(const Operations& allot, const ScheduleOptions& options) {
  const json schedule = allot.read(schedule_path(options.name));
  if (options.json) {
    print(schedule);
    return kExitOk;
  }
  print_task(schedule);
  print_state(schedule);
  print_ticks(schedule.at("last_ticks"));
  return kExitOk;
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
  Table table({"UTC", zone});
  for (const queue::Moment run : runs) {
    list.push_back({{"utc", moment_text(run)}, {"local", calendar.local(run)}});
    table.add({moment_text(run), calendar.local(run)});
  }
  if (options.json) {
    print(list);
  } else {
    std::printf("%s", table.text().c_str());
  }
  return kExitOk;
}

int pause_schedule(const Operations& allot, const ScheduleOptions& options) {
  const std::string path = schedule_path(options.name);
  const bool was = !allot.read(path).at("paused").is_null();
  const json now = allot.post(path + "/pause", json::object());
  print_change(
      "schedule", now,
      was ? "was already paused, since " + moment_text(now.at("paused").at("since")) : "is paused",
      options.json);
  return kExitOk;
}

int resume_schedule(const Operations& allot, const ScheduleOptions& options) {
  const std::string path = schedule_path(options.name);
  const bool was = !allot.read(path).at("paused").is_null();
  print_change("schedule", allot.post(path + "/resume", json::object()),
               was ? "is resumed" : "was not paused", options.json);
  return kExitOk;
}

int run_schedule(const Operations& allot, const ScheduleOptions& options) {
  const json made = allot.post(schedule_path(options.name) + "/run-now", json::object());
  if (options.json) {
    print(made);
  } else {
    std::printf("%s\n", made.at("task").get<std::string>().c_str());
  }
  return kExitOk;
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
  print_change("schedule", removed, "is removed", options.json);
  return kExitOk;
}

void add_next(CLI::App& schedule, const Commands& commands) {
  CLI::App& next =
      *schedule.add_subcommand("next", "Show the next runs of a schedule or an expression");
  const auto options = std::make_shared<NextOptions>();
  auto* name = next.add_option("NAME", options->name, "The schedule");
  auto* expression =
      next.add_option("--expression", options->expression, "Expression; needs no database");
  expression->type_name("TEXT")->excludes(name);
  next.add_option("--zone", options->zone, "The time zone of --expression")
      ->type_name("ZONE")
      ->capture_default_str()
      ->needs(expression);
  next.add_option("--count", options->count, "Number of runs")
      ->check(CLI::Range(1, kMostNext))
      ->type_name("RUNS")
      ->capture_default_str();
  next.add_flag("--json", options->json, "As JSON");
  next.callback([commands, options, name, expression] {
    if (name->empty() && expression->empty()) throw CLI::RequiredError("NAME or --expression");
    commands.choose(next_runs, options);
  });
}

}  // namespace

std::string schedule_path(const std::string& name) {
  const bool is_name = queue::is_name(name) && name.size() <= queue::kMaxScheduleName;
  if (is_name) return "/schedules/" + name;
  throw Error("schedule '" + printable(name, queue::kMaxScheduleName) + "' does not exist",
              kExitBadInput);
}

void add_schedule(CLI::App& app, const Commands& commands) {
  CLI::App& schedule = *app.add_subcommand("schedule", "Add, show, pause or remove schedules");
  schedule.require_subcommand(1);
  add_schedule_add(schedule, commands);
  // These commands share their options; the parser runs exactly one of them.
  const auto options = std::make_shared<ScheduleOptions>();
  const auto add = [&](const char* name, const char* text,
                       int (*run)(const Operations&, const ScheduleOptions&),
                       bool named) -> CLI::App& {
    CLI::App& act = *schedule.add_subcommand(name, text);
    if (named) act.add_option("NAME", options->name, "The schedule")->required();
    act.add_flag("--json", options->json, "As JSON");
    act.callback([commands, run, options] { commands.choose(run, options); });
    return act;
  };
  add("list", "List the schedules", list_schedules, false);
  add("show", "Show a schedule and its last 20 ticks", show_schedule, true);
  add_next(schedule, commands);
  const auto operate = [&](const char* name, const char* text,
                           int (*run)(const Operations&, const ScheduleOptions&)) -> CLI::App& {
    CLI::App& act = add(name, text, run, true);
    commands.add_reason(act);
    return act;
  };
  operate("pause", "Pause a schedule: it submits no tasks, and ticks during the pause are dropped",
          pause_schedule);
  operate("resume", "Resume a paused schedule from its next tick", resume_schedule);
  operate("run-now", "Submit a task of a schedule now, and print its id", run_schedule);
  operate("remove", "Remove a schedule; its tasks stay", remove_schedule)
      .add_flag("--yes", options->yes, "Do not ask; required without a terminal");
  add_schedule_apply(schedule, commands);
  add_schedule_import(schedule, commands);
}

}  // namespace allot::cli
