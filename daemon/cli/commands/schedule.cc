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
#include "cli/remote/session.h"
#include "cli/sources/calendar.h"
#include "cli/sources/far.h"
#include "cli/sources/ring_local.h"
#include "cli/sources/schedules.h"
#include "cli/words/confirm.h"
#include "cli/words/listing.h"
#include "cli/words/schedule_view.h"
#include "cli/words/task_view.h"
#include "cli/words/terminal.h"
#include "cli/words/text.h"
#include "json/view_reader.h"
#include "queue/model/task.h"

namespace allot::cli {
namespace {

using nlohmann::json;

constexpr int kMostNext = 1000;

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

void print_schedules(const std::vector<queue::Schedule>& schedules, bool as_json) {
  Listing list({"NAME", "EXPRESSION", "ZONE", "QUEUE", "TYPE", "NEXT RUN", "LAST RUN", "STATE"},
               as_json);
  for (const queue::Schedule& schedule : schedules) {
    const queue::ScheduleSpec& spec = schedule.spec;
    list.add(as_json::schedule(schedule),
             {spec.name, spec.expression, spec.zone, spec.queue, spec.type,
              moment_text(schedule.next_run), moment_text(schedule.last_run), state_text(schedule)},
             schedule.error.empty() ? std::nullopt : std::optional<std::size_t>(7));
  }
  list.print();
}

int list_schedules(const Context& context, const ScheduleOptions& options) {
  db::Connection db = connect(context.settings());
  print_schedules(queue::list_schedules(db), options.json);
  return kExitOk;
}

int remote_list_schedules(const remote::Session& gateway, const ScheduleOptions& options) {
  const std::vector<json> documents = far::items(gateway, "/schedules");
  if (options.json) {
    print(documents);
    return kExitOk;
  }
  std::vector<queue::Schedule> schedules;
  for (const json& document : documents) schedules.push_back(as_json::schedule_of(document));
  print_schedules(schedules, false);
  return kExitOk;
}

void print_spec(const queue::Schedule& schedule) {
  const queue::ScheduleSpec& spec = schedule.spec;
  const auto say = [](const char* field, const std::string& text) {
    std::printf("%-14s %s\n", field, text.c_str());
  };
  const auto say_key = [&](const char* field, const std::optional<std::string>& text) {
    if (text) say(field, printable(*text, kShownError));
  };
  say("name", spec.name);
  say("expression", spec.expression);
  say("zone", spec.zone);
  say("queue", spec.queue);
  say("type", spec.type);
  if (!spec.payload.empty()) say("payload", printable(spec.payload, kShownError));
  say("prio", std::to_string(spec.options.prio));
  if (spec.options.delay.count() != 0) say("delay", span_text(spec.options.delay));
  say_key("unique_key", spec.options.unique_key);
  if (spec.options.unique_key) say("unique_for", span_text(spec.options.unique_for));
  say_key("partition_key", spec.options.partition_key);
  if (spec.options.expires_in.count() != 0) say("expires_in", span_text(spec.options.expires_in));
  const bool all = spec.late == queue::Late::kAll;
  say("late", std::string(queue::name_of(spec.late)) + " after " + span_text(spec.late_after) +
                  (all ? ", at most " + std::to_string(spec.catch_up) : ""));
  say("overlap", std::string(queue::name_of(spec.overlap)));
  if (spec.jitter.count() != 0) say("jitter", span_text(spec.jitter));
  say_key("tick_field", spec.tick_field);
  say("state", state_text(schedule));
  const bool spread = schedule.due_at != schedule.next_run;
  say("next run",
      moment_text(schedule.next_run) + (spread ? ", due at " + moment_text(schedule.due_at) : ""));
  say("last run", moment_text(schedule.last_run) +
                      (schedule.last_task.empty() ? "" : ", task " + schedule.last_task));
  say("ticks", std::to_string(schedule.ticks) + ": " + std::to_string(schedule.submitted) +
                   " submitted, " + std::to_string(schedule.skipped) + " skipped, " +
                   std::to_string(schedule.dropped) + " dropped");
  if (schedule.applied) {
    say("made by", "a configuration, revision " + std::to_string(schedule.revision));
  }
}

void print_schedule(const queue::Schedule& schedule,
                    const std::vector<queue::ScheduleTick>& ticks) {
  print_spec(schedule);
  if (ticks.empty()) return;
  Table table({"TICK", "AT", "TASK", "REASON"});
  for (const queue::ScheduleTick& tick : ticks) {
    table.add({moment_text(tick.tick), moment_text(tick.at), tick.task.empty() ? "-" : tick.task,
               printable(tick.reason, kShownError)});
  }
  std::printf("\n%s", table.text(wants_colour(STDOUT_FILENO)).c_str());
}

int show_schedule(const Context& context, const ScheduleOptions& options) {
  db::Connection db = connect(context.settings());
  const queue::Schedule schedule = named_schedule(db, options.name);
  const auto ticks = queue::list_ticks(db, schedule.schedule_id);
  if (!options.json) {
    print_schedule(schedule, ticks);
    return kExitOk;
  }
  json out = as_json::schedule(schedule);
  as_json::add_payload(out, schedule.spec.payload);
  out["last_ticks"] = json::array();
  for (const queue::ScheduleTick& tick : ticks) out["last_ticks"].push_back(as_json::tick(tick));
  print(out);
  return kExitOk;
}

int remote_show_schedule(const remote::Session& gateway, const ScheduleOptions& options) {
  const json document = gateway.read(schedule_path(options.name));
  if (options.json) {
    print(document);
    return kExitOk;
  }
  std::vector<queue::ScheduleTick> ticks;
  for (const json& tick : document.at("last_ticks")) ticks.push_back(as_json::tick_of(tick));
  print_schedule(as_json::schedule_of(document), ticks);
  return kExitOk;
}

// allot schedule next shows the next runs; an expression needs no database.
int next_runs(const Context& context, const NextOptions& options) {
  std::string expression = options.expression;
  std::string zone = options.zone;
  std::vector<queue::Moment> runs;
  queue::Moment after =
      std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
  if (!options.name.empty()) {
    db::Connection db = connect(context.settings());
    const queue::Schedule schedule = named_schedule(db, options.name);
    expression = schedule.spec.expression;
    zone = schedule.spec.zone;
    after = schedule.next_run.value_or(queue::database_now(db));
    if (schedule.next_run) runs.push_back(*schedule.next_run);
    if (schedule.paused_at) {
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

void say(const queue::Schedule& schedule, const std::string& text, bool as_json) {
  if (as_json) {
    print(as_json::schedule(schedule));
  } else {
    std::printf("schedule %s %s\n", schedule.spec.name.c_str(), text.c_str());
  }
}

void say_paused(const queue::Schedule& now, bool was, bool as_json) {
  say(now, was ? "was paused already, since " + moment_text(now.paused_at) : "is paused", as_json);
}

int pause_schedule(const Context& context, const ScheduleOptions& options) {
  db::Connection db = connect_as_operator(context, context.settings());
  const bool was = named_schedule(db, options.name).paused_at.has_value();
  if (!queue::pause_schedule(db, options.name, context.reason) && !was) {
    unknown_schedule(db, options.name);
  }
  say_paused(named_schedule(db, options.name), was, options.json);
  return kExitOk;
}

int remote_pause_schedule(const remote::Session& gateway, const ScheduleOptions& options) {
  const std::string path = schedule_path(options.name);
  const bool was = !gateway.read(path).at("paused").is_null();
  const json now = gateway.post(path + "/pause", json::object());
  say_paused(as_json::schedule_of(now), was, options.json);
  return kExitOk;
}

int resume_schedule(const Context& context, const ScheduleOptions& options) {
  db::Connection db = connect_as_operator(context, context.settings());
  const bool was = named_schedule(db, options.name).paused_at.has_value();
  static_cast<void>(queue::resume_schedule(db, options.name));
  say(named_schedule(db, options.name), was ? "is resumed" : "was not paused", options.json);
  return kExitOk;
}

int remote_resume_schedule(const remote::Session& gateway, const ScheduleOptions& options) {
  const std::string path = schedule_path(options.name);
  const bool was = !gateway.read(path).at("paused").is_null();
  const json now = gateway.post(path + "/resume", json::object());
  say(as_json::schedule_of(now), was ? "is resumed" : "was not paused", options.json);
  return kExitOk;
}

void print_run(const json& made, bool as_json) {
  if (as_json) return print(made);
  std::printf("%s\n", made.at("task").get<std::string>().c_str());
}

int run_schedule(const Context& context, const ScheduleOptions& options) {
  const config::Settings settings = context.settings();
  db::Connection db = connect_as_operator(context, settings);
  const auto task = queue::run_schedule_now(db, options.name);
  if (!task) unknown_schedule(db, options.name);
  ring_local(settings, {{task->partition.queue_id, 1}});
  print_run({{"name", options.name}, {"task", task->text()}}, options.json);
  return kExitOk;
}

int remote_run_schedule(const remote::Session& gateway, const ScheduleOptions& options) {
  print_run(gateway.post(schedule_path(options.name) + "/run-now", json::object()), options.json);
  return kExitOk;
}

void confirm_removal(const queue::Schedule& schedule, bool yes) {
  confirm("remove", "schedule " + schedule.spec.name + " (" + schedule.spec.expression + ")", yes);
}

void say_removed_schedule(const queue::Schedule& schedule, bool as_json) {
  if (schedule.applied) {
    std::fprintf(stderr,
                 "allot: this schedule comes from a configuration; as long as a file has its "
                 "section, the next start of that daemon creates it again\n");
  }
  say(schedule, "is removed", as_json);
}

int remove_schedule(const Context& context, const ScheduleOptions& options) {
  db::Connection db = connect_as_operator(context, context.settings());
  const queue::Schedule schedule = named_schedule(db, options.name);
  confirm_removal(schedule, options.yes);
  if (!queue::remove_schedule(db, options.name)) unknown_schedule(db, options.name);
  say_removed_schedule(schedule, options.json);
  return kExitOk;
}

int remote_remove_schedule(const remote::Session& gateway, const ScheduleOptions& options) {
  const std::string path = schedule_path(options.name);
  confirm_removal(as_json::schedule_of(gateway.read(path)), options.yes);
  say_removed_schedule(as_json::schedule_of(gateway.remove(path)), options.json);
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
  const auto add =
      [&](const char* name, const char* text, int (*run)(const Context&, const ScheduleOptions&),
          int (*far)(const remote::Session&, const ScheduleOptions&), bool named) -> CLI::App& {
    CLI::App& act = *schedule.add_subcommand(name, text);
    if (named) act.add_option("NAME", options->name, "The schedule")->required();
    act.add_flag("--json", options->json, "As JSON");
    act.callback([commands, run, far, options] { commands.choose(run, options, far); });
    return act;
  };
  add("list", "List the schedules", list_schedules, remote_list_schedules, false);
  add("show", "Show a schedule and its last 20 ticks", show_schedule, remote_show_schedule, true);
  add_next(schedule, commands);
  const auto operate =
      [&](const char* name, const char* text, int (*run)(const Context&, const ScheduleOptions&),
          int (*far)(const remote::Session&, const ScheduleOptions&)) -> CLI::App& {
    CLI::App& act = add(name, text, run, far, true);
    commands.add_reason(act);
    return act;
  };
  operate("pause", "Pause a schedule: it submits no tasks, and ticks during the pause are dropped",
          pause_schedule, remote_pause_schedule);
  operate("resume", "Resume a paused schedule from its next tick", resume_schedule,
          remote_resume_schedule);
  operate("run-now", "Submit a task of a schedule now, and print its id", run_schedule,
          remote_run_schedule);
  operate("remove", "Remove a schedule; its tasks stay", remove_schedule, remote_remove_schedule)
      .add_flag("--yes", options->yes, "Do not ask; required without a terminal");
  add_schedule_apply(schedule, commands);
  add_schedule_import(schedule, commands);
}

}  // namespace allot::cli
