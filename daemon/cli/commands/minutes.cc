// SPDX-License-Identifier: Apache-2.0
// allot minutes: activity of the workers of all hosts, minute by minute.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/commands/command.h"
#include "cli/sources/documents.h"
#include "cli/words/listing.h"
#include "cli/words/task_view.h"
#include "cli/words/terminal.h"
#include "cli/words/text.h"
#include "json/due.h"
#include "queue/minutes/minute_view.h"

namespace allot::cli {
namespace {

using nlohmann::json;
using queue::MinutesBy;
using std::chrono::microseconds;
using std::chrono::minutes;

struct MinutesOptions {
  std::string queue;  // empty: all
  std::string by = "queue";
  microseconds since = std::chrono::hours(1);
  microseconds step = minutes(1);
  bool json = false;
};

const std::map<std::string, MinutesBy> kBy{
    {"queue", MinutesBy::kQueue}, {"type", MinutesBy::kType}, {"error", MinutesBy::kError}};

// Whole minutes from 1 to `most`.
std::uint32_t minutes_in(const char* option, microseconds time, minutes most) {
  if (time < minutes(1) || time > most || time % minutes(1) != microseconds(0)) {
    throw Error(
        std::string(option) + " must be whole minutes, 1m to " + std::to_string(most.count()) + "m",
        kExitBadInput);
  }
  return static_cast<std::uint32_t>(time / minutes(1));
}

queue::MinutesWanted wanted_of(const MinutesOptions& options) {
  queue::MinutesWanted wanted;
  wanted.queue = options.queue;
  wanted.by = kBy.at(options.by);
  wanted.since = minutes(minutes_in("--since", options.since, queue::kMinutesKept));
  wanted.step = minutes_in("--step", options.step, std::chrono::hours(24));
  return wanted;
}

std::string number_in(const json& document, const char* name) {
  return document.at(name).is_null() ? "" : document.at(name).dump();
}

// Mean over all handlers that ran.
std::string mean_in(const json& document) {
  std::uint64_t runs = 0;
  for (const json& bucket : document.at("runtimes"))
    runs += bucket.at("count").get<std::uint64_t>();
  if (runs == 0) return "";
  return seconds_of(document.at("ran_us").get<std::uint64_t>() / runs);
}

std::vector<std::string> cells_of(const json& document, MinutesBy by) {
  const auto text = [&](const char* name) {
    return printable(document.at(name).get<std::string>(), 100);
  };
  const auto number = [&](const char* name) { return number_in(document, name); };
  if (by == MinutesBy::kError) {
    return {text("at"),        text("queue"),  text("type"), text("group"),
            number("retried"), number("dead"), text("error")};
  }
  std::vector<std::string> cells{text("at"), text("queue")};
  if (by == MinutesBy::kType) cells.push_back(text("type"));
  if (by == MinutesBy::kQueue) {
    const char* about = document.at("estimated").get<bool>() ? "≈" : "";
    for (const char* name : {"in", "backlog"}) {
      cells.push_back(number(name).empty() ? "" : about + number(name));
    }
  }
  for (const char* name : {"out", "done", "retried", "dead", "crashed"}) {
    cells.push_back(number(name));
  }
  cells.push_back(mean_in(document));
  return cells;
}

std::vector<std::string> heads_of(MinutesBy by) {
  switch (by) {
    case MinutesBy::kQueue:
      return {"MINUTE", "QUEUE",   "IN",   "BACKLOG", "OUT",
              "DONE",   "RETRIED", "DEAD", "CRASHED", "MEAN"};
    case MinutesBy::kType:
      return {"MINUTE", "QUEUE", "TYPE", "OUT", "DONE", "RETRIED", "DEAD", "CRASHED", "MEAN"};
    case MinutesBy::kError:
      break;
  }
  return {"MINUTE", "QUEUE", "TYPE", "GROUP", "RETRIED", "DEAD", "ERROR"};
}

int list_minutes(const Operations& allot, const MinutesOptions& options) {
  const queue::MinutesWanted wanted = wanted_of(options);
  const std::string path = "/minutes?by=" + options.by +
                           "&since=" + std::to_string(wanted.since / minutes(1)) +
                           "&step=" + std::to_string(wanted.step);
  const json found = allot.read(documents::with(path, "queue", options.queue));
  Listing list(heads_of(wanted.by), options.json);
  for (const json& minute : found.at("items")) list.add(minute, cells_of(minute, wanted.by));
  list.print();
  if (options.json) return kExitOk;
  if (found.at("truncated").get<bool>()) {
    std::printf("Older minutes are not shown: name a --queue, or a longer --step.\n");
  }
  if (wanted.by == MinutesBy::kQueue && !found.at("items").empty()) {
    std::printf("IN is OUT and the change of BACKLOG: submissions are not counted.\n");
  }
  return kExitOk;
}

void add_time(CLI::App& command, const char* option, microseconds& into, const char* help) {
  command
      .add_option_function<std::string>(
          option, [option, &into](const auto& text) { into = as_json::parse_delay(option, text); },
          help)
      ->type_name("TIME");
}

}  // namespace

void add_minutes(CLI::App& app, const Commands& commands) {
  const auto options = std::make_shared<MinutesOptions>();
  CLI::App& list = *app.add_subcommand(
      "minutes", "Show the work of all hosts in the last week, minute by minute");
  list.add_option("--queue", options->queue, "Only this queue")->type_name("QUEUE");
  list.add_option("--by", options->by, "One line for each queue, type or error group")
      ->check(CLI::IsMember({"queue", "type", "error"}))
      ->type_name("WHAT")
      ->capture_default_str();
  add_time(list, "--since", options->since, "Period to look back: 30m, 7d [1h]");
  add_time(list, "--step", options->step, "Period of one line: 5m, 1h [1m]");
  list.add_flag("--json", options->json, "As JSON");
  list.callback([commands, options] { commands.choose(list_minutes, options); });
}

}  // namespace allot::cli
