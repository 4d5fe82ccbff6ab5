// SPDX-License-Identifier: Apache-2.0
// allot minutes: activity of the workers of all hosts, minute by minute. allot failures: recent
// failures, including those that are retried, grouped by error.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/commands/command.h"
#include "cli/sources/documents.h"
#include "cli/words/task_view.h"
#include "cli/words/text.h"
#include "queue/minutes/minute_view.h"

namespace allot::cli {
namespace {

using nlohmann::json;
using std::chrono::microseconds;
using std::chrono::minutes;

struct MinutesOptions {
  std::string queue;  // empty: all
  std::string by = "queue";
  microseconds since = std::chrono::hours(1);
  microseconds step = minutes(1);
  bool json = false;
};

// Whole minutes from 1 to `most`.
std::string minutes_in(const char* option, microseconds time, minutes most) {
  if (time < minutes(1) || time > most || time % minutes(1) != microseconds(0)) {
    throw Error(
        std::string(option) + " must be whole minutes, 1m to " + std::to_string(most.count()) + "m",
        kExitBadInput);
  }
  return std::to_string(time / minutes(1));
}

// Mean over all handlers that ran.
std::string mean_in(const json& document) {
  std::uint64_t runs = 0;
  for (const json& bucket : document.at("runtimes"))
    runs += bucket.at("count").get<std::uint64_t>();
  if (runs == 0) return "";
  return seconds_of(document.at("ran_us").get<std::uint64_t>() / runs);
}

// IN and BACKLOG may be estimates.
Column estimate(const char* head, const char* field) {
  return {head, [field](const json& minute) {
            const std::string number = cell_of(minute, field);
            return (!number.empty() && minute.at("estimated") ? "≈" : "") + number;
          }};
}

std::vector<Column> columns_of(const std::string& by) {
  std::vector<Column> columns{{"MINUTE", "at"}, {"QUEUE", "queue"}};
  if (by == "queue") {
    columns.insert(columns.end(), {estimate("IN", "in"), estimate("BACKLOG", "backlog")});
  } else {
    columns.emplace_back("TYPE", "type");
  }
  if (by == "error") {
    columns.insert(
        columns.end(),
        {{"GROUP", "group"}, {"RETRIED", "retried"}, {"DEAD", "dead"}, {"ERROR", "error"}});
    return columns;
  }
  columns.insert(columns.end(), {{"OUT", "out"},
                                 {"DONE", "done"},
                                 {"RETRIED", "retried"},
                                 {"DEAD", "dead"},
                                 {"CRASHED", "crashed"},
                                 {"MEAN", mean_in}});
  return columns;
}

int list_minutes(const Operations& allot, const MinutesOptions& options) {
  const std::string path = "/minutes?by=" + options.by +
                           "&since=" + minutes_in("--since", options.since, queue::kMinutesKept) +
                           "&step=" + minutes_in("--step", options.step, std::chrono::hours(24));
  const json found = allot.read(documents::with(path, "queue", options.queue));
  print_list(found.at("items"), options.json, columns_of(options.by));
  if (options.json) return kExitOk;
  if (found.at("truncated").get<bool>()) {
    std::printf("Older minutes are not shown: name a --queue, or a longer --step.\n");
  }
  if (options.by == "queue" && !found.at("items").empty()) {
    std::printf("IN is OUT and the change of BACKLOG: submissions are not counted.\n");
  }
  return kExitOk;
}

struct FailuresOptions {
  std::string queue;  // empty: all
  microseconds since = std::chrono::hours(24);
  bool json = false;
};

minutes since_of(const FailuresOptions& options) {
  const auto since = std::chrono::ceil<minutes>(options.since);
  if (since < minutes(1) || since > queue::kMinutesKept) {
    throw Error("--since takes 1m to 7d", kExitBadInput);
  }
  return since;
}

int list_failures(const Operations& allot, const FailuresOptions& options) {
  const std::string path = "/failures?since=" + std::to_string(since_of(options).count());
  const json found = allot.read(documents::with(path, "queue", options.queue));
  print_list(found.at("items"), options.json,
             {{"GROUP", "group"},
              {"QUEUE", "queue"},
              {"TYPE", "type"},
              {"RETRIED", "retried"},
              {"DEAD", "dead"},
              {"NEWEST TASK", "newest_task"},
              {"WHY", "error"}});
  if (found.at("truncated").get<bool>() && !options.json) {
    std::printf("Older failures are not shown: name a --queue.\n");
  }
  return kExitOk;
}

}  // namespace

void add_minutes(CLI::App& app, const Commands& commands) {
  const auto [list, options] =
      commands.add(app, "minutes", "Show the work of all hosts in the last week, minute by minute",
                   list_minutes);
  add_text(list, "--queue", "QUEUE", options->queue, "Only this queue");
  add_text(list, "--by", "WHAT", options->by, "One line for each queue, type or error group")
      .check(CLI::IsMember({"queue", "type", "error"}));
  add_time(list, "--since", options->since, "Period to look back: 30m, 7d [1h]");
  add_time(list, "--step", options->step, "Period of one line: 5m, 1h [1m]");
}

void add_failures(CLI::App& app, const Commands& commands) {
  const auto [list, options] = commands.add(
      app, "failures", "Show recent failures by error group, including retried attempts",
      list_failures);
  list.add_option("QUEUE", options->queue, "Only failures of this queue");
  add_time(list, "--since", options->since, "Period to look back: 30m, 7d [24h]");
}

}  // namespace allot::cli
