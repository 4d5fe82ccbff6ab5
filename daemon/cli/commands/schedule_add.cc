// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/commands/command.h"
#include "cli/sources/input.h"
#include "cli/sources/known_types.h"
#include "cli/sources/local.h"
#include "cli/sources/schedules.h"
#include "cli/words/text.h"
#include "json/fields.h"

namespace allot::cli {
namespace {

using nlohmann::json;

struct AddWords {
  queue::ScheduleSpec spec;
  bool replace = false;
  bool json = false;
};

queue::ScheduleSpec spec_of(const AddWords& words) {
  queue::ScheduleSpec spec = words.spec;
  if (spec.payload != "-") return spec;
  Input input("-");
  spec.payload = input.read_all(queue::kMaxPayload);
  return spec;
}

// `result`: "added", "changed" or "unchanged".
std::string said(const json& made, const std::string& result) {
  std::string text = "schedule " + made.at("name").get<std::string>() + " is " + result;
  if (made.at("next_run").is_null()) return text + "; it never runs";
  const std::string zone = made.at("zone");
  const std::string next = made.at("next_run");
  text += "; it runs " + std::string(result == "added" ? "first" : "next") + " at " + next;
  if (zone != "UTC") {
    const Calendar calendar(made.at("expression"), zone);
    text += ", " + calendar.local(as_json::parse_moment("next_run", next)) + " in " + zone;
  }
  const json& due = made.at("due_at");
  if (due != made.at("next_run")) text += ", with its jitter at " + moment_text(due);
  return text + (made.at("paused").is_null() ? "" : "; it is " + state_text(made));
}

// Checks the arguments without a database.
queue::ScheduleSpec checked_spec(const AddWords& words) {
  queue::ScheduleSpec spec = spec_of(words);
  static_cast<void>(Calendar(spec.expression, spec.zone));
  queue::validate(spec);
  return spec;
}

// null: unknown schedule.
json find_schedule(const Operations& allot, const std::string& path) {
  try {
    return allot.read(path);
  } catch (const operations::Refusal& refused) {
    if (refused.problem().status != 404) throw;
    return nullptr;
  }
}

// allot schedule add checks all arguments before it writes.
int add_one(const Operations& allot, const AddWords& words) {
  const queue::ScheduleSpec spec = checked_spec(words);
  const std::string path = schedule_path(spec.name);
  const json before = find_schedule(allot, path);
  if (!before.is_null() && !words.replace) {
    throw Error("name '" + spec.name + "': a schedule with this name exists; --replace changes it",
                kExitBadInput);
  }
  json made = put_schedule(allot, spec);
  const std::string result = before.is_null()                             ? "added"
                             : before.at("version") == made.at("version") ? "unchanged"
                                                                          : "changed";
  if (const Local* here = allot.local()) {
    KnownTypes known(here->settings());
    known.submitted(spec.queue, spec.type);
    known.warn(here->db());
  }
  made["result"] = result;
  return print_as(words.json, made, [&] { std::printf("%s\n", said(made, result).c_str()); });
}

void add_policies(CLI::App& command, queue::ScheduleSpec& spec) {
  add_text(command, "--zone", "ZONE", spec.zone, "Time zone of the expression, as named by tzdata");
  command
      .add_option_function<std::string>(
          "--late",
          [&spec](const auto& word) { spec.late = queue::late_of(word).value_or(spec.late); },
          "Tasks for late ticks: once (one for all of them) [once], skip (none), or all (one each)")
      ->check(CLI::IsMember({"once", "skip", "all"}))
      ->type_name("WORD");
  add_time(command, "--late-after", spec.late_after, "Delay after which a tick is late [60s]");
  add_number(command, "--catch-up", "TICKS", spec.catch_up, queue::kMaxCatchUp,
             "With --late all, the number of newest ticks that get a task");
  command
      .add_option_function<std::string>(
          "--overlap",
          [&spec](const auto& word) {
            spec.overlap = queue::overlap_of(word).value_or(spec.overlap);
          },
          "A tick while the task of an earlier tick is not finished: allow (it gets its task) "
          "[allow], skip (it gets none), or wait")
      ->check(CLI::IsMember({"allow", "skip", "wait"}))
      ->type_name("WORD");
  add_time(command, "--jitter", spec.jitter, "Maximum extra delay of a tick, determined by a hash");
  command
      .add_option("--tick-field", spec.tick_field,
                  "Field of a JSON payload that is set to the time of the tick")
      ->type_name("NAME");
  add_time(command, "--delay", spec.options.delay, "Delay before a task may start");
  add_time(command, "--expires-in", spec.options.expires_in,
           "A task that has not started this long after its tick becomes dead");
}

void add_keys(CLI::App& command, queue::ScheduleSpec& spec) {
  queue::SubmitOptions& options = spec.options;
  add_prio(command, options.prio);
  auto* key = command.add_option("--unique-key", options.unique_key,
                                 "Unique key; a tick that finds it reserved submits no task");
  key->type_name("KEY");
  add_time(command, "--unique-for", options.unique_for,
           "How long the key stays reserved after the task has finished [5m]")
      .needs(key);
  command
      .add_option("--partition-key", options.partition_key,
                  "Partition key, in an ordered, limited or fair queue")
      ->type_name("KEY");
}

}  // namespace

void add_schedule_add(CLI::App& schedule, const Commands& commands) {
  const auto [command, words] = commands.add(schedule, "add", "Add a schedule", add_one);
  queue::ScheduleSpec& spec = words->spec;
  command.add_option("NAME", spec.name, "Its name")->required();
  command
      .add_option("EXPRESSION", spec.expression,
                  "Cron expression: five fields as in a crontab, or six with seconds first, or "
                  "@hourly, @daily and so on, or @every 90s")
      ->required();
  command.add_option("QUEUE", spec.queue, "Queue that each tick submits a task to")->required();
  command.add_option("TYPE", spec.type, "Type of the tasks")->required();
  command.add_option("PAYLOAD", spec.payload,
                     "Payload of the tasks; -: read it from standard input; default: empty");
  add_policies(command, spec);
  add_keys(command, spec);
  command.add_flag("--replace", words->replace, "Change the schedule if it exists");
  commands.add_reason(command);
  command.get_option("--json")->description("Print the schedule as JSON");
}

}  // namespace allot::cli
