// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands/command.h"
#include "cli/sources/documents.h"
#include "cli/words/listing.h"
#include "cli/words/task_view.h"
#include "cli/words/text.h"
#include "queue/operate/cap.h"
#include "queue/operate/rate.h"

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

std::string pause_text(const json& paused) {
  const std::string reason = paused.at("reason");
  return "since " + paused.at("since").get<std::string>() +
         (reason.empty() ? "" : ": " + printable(reason, kShownError));
}

// allot queue list shows the queues, their pauses, rates and caps. The columns for rates and caps
// appear only if a queue has one.
int list_queues(const Operations& allot, const QueueOptions& options) {
  const auto queues = documents::items(allot, "/queues");
  const auto any = [&](const char* field) {
    return std::any_of(queues.begin(), queues.end(),
                       [&](const json& queue) { return !queue.at(field).is_null(); });
  };
  const bool rated = any("rate");
  const bool capped = any("cap");
  std::vector<std::string> head{"QUEUE", "PARTITIONS"};
  if (rated) head.emplace_back("RATE");
  if (capped) head.emplace_back("CAP");
  head.emplace_back("PAUSED");
  Listing list(std::move(head), options.json);
  for (const json& queue : queues) {
    const json& rate = queue.at("rate");
    const json& cap = queue.at("cap");
    const json& paused = queue.at("paused");
    std::vector<std::string> row{queue.at("name"),
                                 queue.at("partitions").dump() +
                                     (queue.at("resizing").get<bool>() ? ", being resized" : "")};
    if (rated) row.push_back(rate.is_null() ? "none" : rate_text(rate));
    if (capped) row.push_back(cap.is_null() ? "none" : cap.dump());
    row.push_back(paused.is_null() ? "no" : pause_text(paused));
    list.add(queue, std::move(row));
  }
  list.print();
  return kExitOk;
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
  print_change("queue", allot.post(path, json::object()),
               paused.is_null()
                   ? "is paused"
                   : "is paused since " + paused.at("since").get<std::string>() + " already",
               options.json);
  return kExitOk;
}

int resume_queue(const Operations& allot, const QueueOptions& options) {
  const std::string path = documents::queue_path(options.queue, "/resume");
  const bool was = !before(allot, options, "paused").is_null();
  print_change("queue", allot.post(path, json::object()), was ? "is resumed" : "was not paused",
               options.json);
  return kExitOk;
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
    print_change("queue", allot.remove(path), had ? "no longer has a rate" : "had no rate",
                 options.json);
    return kExitOk;
  }
  const queue::Rate rate = queue::read_rate(options.per_second, options.burst);
  const json former = before(allot, options, "rate");
  const json now = allot.put(
      path, {{"per_second", json::parse(queue::per_second_text(rate.per_million_seconds))},
             {"burst", rate.burst}});
  print_change("queue", now,
               (former == now.at("rate") ? "already starts " : "starts ") + queue::text_of(rate),
               options.json);
  return kExitOk;
}

// allot queue cap limits how many tasks of a queue run at the same time, over all hosts.
int cap_queue(const Operations& allot, const QueueOptions& options) {
  if (options.off == (options.cap != 0)) {
    throw Error("allot queue cap requires a number of tasks, or --off to remove the cap",
                kExitUsage);
  }
  const std::string path = documents::queue_path(options.queue, "/cap");
  const json now = options.off ? allot.remove(path) : allot.put(path, {{"tasks", options.cap}});
  print_change("queue", now,
               options.off ? "runs any number of tasks at a time"
                           : "runs up to " + std::to_string(options.cap) +
                                 (options.cap == 1 ? " task" : " tasks") + " at a time",
               options.json);
  return kExitOk;
}

}  // namespace

void add_queue(CLI::App& app, const Commands& commands) {
  CLI::App& queue =
      *app.add_subcommand("queue", "List, pause, resume, limit, resize or empty queues");
  queue.require_subcommand(1);
  // These commands share their options; the parser runs exactly one of them.
  const auto options = std::make_shared<QueueOptions>();
  const auto add = [&](const char* name, const char* text,
                       int (*run)(const Operations&, const QueueOptions&)) -> CLI::App& {
    CLI::App& act = *queue.add_subcommand(name, text);
    act.add_flag("--json", options->json, "As JSON");
    act.callback([commands, run, options] { commands.choose(run, options); });
    return act;
  };
  add("list", "List the queues", list_queues);
  CLI::App& pause =
      add("pause", "Pause a queue: no host starts its tasks; running tasks finish", pause_queue);
  pause.add_option("QUEUE", options->queue, "The queue")->required();
  CLI::App& resume = add("resume", "Resume a paused queue", resume_queue);
  resume.add_option("QUEUE", options->queue, "The queue")->required();
  CLI::App& rate =
      add("rate", "Limit the number of tasks of a queue that start per second, over all hosts",
          rate_queue);
  rate.add_option("QUEUE", options->queue, "The queue")->required();
  rate.add_option("--per-second", options->per_second, "Starts per second, such as 500 or 0.5")
      ->type_name("NUMBER");
  rate.add_option("--burst", options->burst,
                  "Number of tasks that may start at once after a period without starts")
      ->type_name("N")
      ->capture_default_str();
  rate.add_flag("--off", options->off, "Remove the rate");
  CLI::App& cap = add(
      "cap", "Limit the number of tasks of a queue that run at a time, over all hosts", cap_queue);
  cap.add_option("QUEUE", options->queue, "The queue")->required();
  cap.add_option("TASKS", options->cap, "Maximum number of tasks")
      ->check(CLI::Range(1U, queue::kMaxCap));
  cap.add_flag("--off", options->off, "Remove the cap");
  for (CLI::App* act : {&pause, &resume, &rate, &cap}) commands.add_reason(*act);
  add_queue_changes(queue, commands);
}

}  // namespace allot::cli
