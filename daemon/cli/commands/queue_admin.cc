// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/commands/command.h"
#include "cli/sources/documents.h"
#include "cli/words/text.h"
#include "queue/operate/limits.h"

namespace allot::cli {
namespace {

using nlohmann::json;

struct QueueOptions {
  std::string queue;
  std::string per_second;  // of a rate
  std::string burst = "1";
  std::uint32_t cap = 0;
  bool off = false;  // of the rate, or of the cap
  bool json = false;
};

std::string rate_text(const json& rate) {
  return queue::text_of(queue::read_rate(rate.at("per_second").dump(), rate.at("burst").dump()));
}

// allot queue list shows the queues, their pauses, rates and caps. The columns for rates and caps
// appear only if a queue has one.
int list_queues(const Operations& allot, const QueueOptions& options) {
  const auto queues = documents::items(allot, "/queues");
  const auto any = [&](const char* field) {
    return std::any_of(queues.begin(), queues.end(),
                       [&](const json& queue) { return !queue.at(field).is_null(); });
  };
  // A field that may be null.
  const auto column = [](const char* head, const char* field, const char* none,
                         const std::function<std::string(const json&)>& text) {
    return Column(head, [=](const json& queue) {
      return queue.at(field).is_null() ? none : text(queue.at(field));
    });
  };
  std::vector<Column> columns{{"QUEUE", "name"},
                              {"PARTITIONS", [](const json& queue) {
                                 return queue.at("partitions").dump() +
                                        (queue.at("resizing") ? ", being resized" : "");
                               }}};
  if (any("rate")) columns.push_back(column("RATE", "rate", "none", rate_text));
  if (any("cap")) {
    columns.push_back(column("CAP", "cap", "none", [](const json& cap) { return cap.dump(); }));
  }
  columns.push_back(
      column("PAUSED", "paused", "no", [](const json& paused) { return since_text(paused); }));
  return print_list(queues, options.json, columns);
}

// A field of the queue before a change; null: not set, or the queue is not visible to the caller.
json before(const Operations& allot, const QueueOptions& options, const char* field) {
  const json queue = documents::find_queue(allot, options.queue);
  return queue.is_null() ? json() : queue.at(field);
}

// allot queue pause and allot queue resume apply to all hosts.
int pause_queue(const Operations& allot, const QueueOptions& options) {
  const std::string path = documents::queue_path(options.queue, "/pause");
  const json paused = before(allot, options, "paused");
  return print_change(
      "queue", allot.post(path, json::object()),
      paused.is_null() ? "is paused" : "is paused since " + cell_of(paused, "since") + " already",
      options.json);
}

int resume_queue(const Operations& allot, const QueueOptions& options) {
  const std::string path = documents::queue_path(options.queue, "/resume");
  const bool was = !before(allot, options, "paused").is_null();
  return print_change("queue", allot.post(path, json::object()),
                      was ? "is resumed" : "was not paused", options.json);
}

// allot queue rate limits how many tasks of a queue start per second, over all hosts.
int rate_queue(const Operations& allot, const QueueOptions& options) {
  if (options.off == !options.per_second.empty()) {
    throw Error("allot queue rate requires --per-second NUMBER, or --off to remove the rate",
                kExitUsage);
  }
  const std::string path = documents::queue_path(options.queue, "/rate");
  if (options.off) {
    const bool had = !before(allot, options, "rate").is_null();
    return print_change("queue", allot.remove(path), had ? "no longer has a rate" : "had no rate",
                        options.json);
  }
  const queue::Rate rate = queue::read_rate(options.per_second, options.burst);
  const json former = before(allot, options, "rate");
  const json now = allot.put(
      path, {{"per_second", json::parse(queue::per_second_text(rate.per_million_seconds))},
             {"burst", rate.burst}});
  return print_change(
      "queue", now,
      (former == now.at("rate") ? "already starts " : "starts ") + queue::text_of(rate),
      options.json);
}

// allot queue cap limits how many tasks of a queue run at the same time, over all hosts.
int cap_queue(const Operations& allot, const QueueOptions& options) {
  if (options.off == (options.cap != 0)) {
    throw Error("allot queue cap requires a number of tasks, or --off to remove the cap",
                kExitUsage);
  }
  const std::string path = documents::queue_path(options.queue, "/cap");
  const json now = options.off ? allot.remove(path) : allot.put(path, {{"tasks", options.cap}});
  return print_change("queue", now,
                      options.off ? "runs any number of tasks at a time"
                                  : "runs up to " + std::to_string(options.cap) +
                                        (options.cap == 1 ? " task" : " tasks") + " at a time",
                      options.json);
}

}  // namespace

void add_queue(CLI::App& app, const Commands& commands) {
  CLI::App& queue =
      *app.add_subcommand("queue", "List, pause, resume, limit, resize or empty queues");
  queue.require_subcommand(1);
  commands.add(queue, "list", "List the queues", list_queues);
  const auto add = [&](const char* name, const char* text,
                       int (*run)(const Operations&, const QueueOptions&)) {
    auto added = commands.add(queue, name, text, run);
    added.command.add_option("QUEUE", added.options->queue, "The queue")->required();
    commands.add_reason(added.command);
    return added;
  };
  add("pause", "Pause a queue: no host starts its tasks; running tasks finish", pause_queue);
  add("resume", "Resume a paused queue", resume_queue);
  const auto [rate, rated] =
      add("rate", "Limit the number of tasks of a queue that start per second, over all hosts",
          rate_queue);
  rate.add_option("--per-second", rated->per_second, "Starts per second, such as 500 or 0.5")
      ->type_name("NUMBER");
  rate.add_option("--burst", rated->burst,
                  "Number of tasks that may start at once after a period without starts")
      ->type_name("N")
      ->capture_default_str();
  rate.add_flag("--off", rated->off, "Remove the rate");
  const auto [cap, capped] = add(
      "cap", "Limit the number of tasks of a queue that run at a time, over all hosts", cap_queue);
  cap.add_option("TASKS", capped->cap, "Maximum number of tasks")
      ->check(CLI::Range(1U, queue::kMaxCap));
  cap.add_flag("--off", capped->off, "Remove the cap");
  add_queue_changes(queue, commands);
}

}  // namespace allot::cli
