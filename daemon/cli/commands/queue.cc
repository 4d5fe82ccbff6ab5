// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/names.h"
#include "cli/commands/command.h"
#include "cli/commands/moving.h"
#include "cli/sources/documents.h"
#include "cli/words/terminal.h"
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

struct ResizeOptions {
  std::string queue;
  std::uint32_t partitions = 0;
  bool yes = false;
  bool json = false;
};

struct MaxRunningOptions {
  std::string queue;
  std::uint32_t max_running = 0;
  bool json = false;
};

struct MoveOptions {
  Move move;
  bool yes = false;
  bool json = false;
};

// `made`: for a queue whose tasks wait for each other it says whether new tasks wait for the former
// layout, else how many tasks are in partitions that get no new tasks.
void print_resized(const json& made) {
  std::printf("queue %s has %u partitions (before: %u)\n",
              made.at("name").get<std::string>().c_str(), made.at("partitions").get<unsigned>(),
              made.at("partitions_before").get<unsigned>());
  if (made.contains("resizing")) {
    if (!made.at("resizing").get<bool>()) return;
    std::printf("new tasks wait until all earlier tasks have run\n");
    return;
  }
  const auto retired = made.at("retired_tasks").get<std::uint64_t>();
  if (retired == 0) return;
  std::printf("%s%s in partitions that get no new tasks: they run as before\n",
              waiting_text(retired).c_str(),
              made.at("retired_tasks_at_least").get<bool>() ? " or more" : "");
}

// allot queue resize QUEUE N: new tasks go to N partitions. In an ordered or limited queue they
// wait for the earlier tasks.
int resize_queue(const Operations& allot, const ResizeOptions& options) {
  const std::string path = documents::queue_path(options.queue, "/resize");
  const json made = documents::change(allot, "POST", path, {{"partitions", options.partitions}},
                                      "resize", options.yes);
  return print_as(options.json, made, [&] { print_resized(made); });
}

// allot queue max-running QUEUE N: at most N tasks of a key run at the same time in a limited
// queue.
int set_max_running(const Operations& allot, const MaxRunningOptions& options) {
  const std::string path = documents::queue_path(options.queue, "/max_running");
  const json made = allot.put(path, {{"max_running", options.max_running}});
  return print_as(options.json, made, [&] {
    std::printf("queue %s runs up to %u tasks of a key at a time (before: %u)\n",
                made.at("name").get<std::string>().c_str(), made.at("max_running").get<unsigned>(),
                made.at("max_running_before").get<unsigned>());
  });
}

// allot queue move FROM TO moves waiting tasks to another queue. Exit code 1: some were not moved,
// because a worker leased their partition.
int move_tasks(const Operations& allot, const MoveOptions& options) {
  const Move& move = options.move;
  const std::uint64_t tasks = count_waiting(allot, move);
  if (tasks > 0) {
    confirm("move",
            waiting_text(tasks) +
                (move.type.empty() ? "" : " of type " + printable(move.type, kMaxTypeName)) +
                " from queue " + move.from + " to queue " + move.to,
            options.yes);
  }
  const Moved moved = move_waiting(allot, move, tasks);
  json report{{"tasks", moved.moved + moved.gone + moved.leased}};
  add_moved(report, moved);
  print_as(options.json, report, [&] { print_moved(moved); });
  return end_of_move(moved);
}

constexpr int kMostPartitions = 4096;

void add_queue_changes(CLI::App& queue, const Commands& commands) {
  const auto [resize, resized] =
      commands.add(queue, "resize", "Change the number of partitions of a queue", resize_queue);
  resize.add_option("QUEUE", resized->queue, "The queue")->required();
  resize.add_option("PARTITIONS", resized->partitions, "New number of partitions")
      ->required()
      ->check(CLI::Range(1, kMostPartitions));
  commands.add_reason(resize);
  add_yes(resize, resized->yes, "Do not ask");

  const auto [change, changed] = commands.add(
      queue, "max-running",
      "Change the number of tasks of a key that run at a time in a limited queue", set_max_running);
  change.add_option("QUEUE", changed->queue, "The queue")->required();
  change.add_option("TASKS", changed->max_running, "Number of tasks of a key, over all hosts")
      ->required()
      ->check(CLI::Range(1, kMostPartitions));
  commands.add_reason(change);

  const auto [move, moved] =
      commands.add(queue, "move", "Move waiting tasks to another queue", move_tasks);
  move.add_option("FROM", moved->move.from, "Queue in which they wait")->required();
  move.add_option("TO", moved->move.to, "Queue to which they are moved")->required();
  add_text(move, "--type", "TYPE", moved->move.type, "Only tasks of this type");
  add_rate(move, moved->move.rate);
  commands.add_reason(move);
  add_yes(move, moved->yes);
  move.get_option("--json")->description("Print the numbers of chosen and moved tasks as JSON");
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
  add_text(rate, "--per-second", "NUMBER", rated->per_second,
           "Starts per second, such as 500 or 0.5");
  add_text(rate, "--burst", "N", rated->burst,
           "Number of tasks that may start at once after a period without starts");
  rate.add_flag("--off", rated->off, "Remove the rate");
  const auto [cap, capped] = add(
      "cap", "Limit the number of tasks of a queue that run at a time, over all hosts", cap_queue);
  cap.add_option("TASKS", capped->cap, "Maximum number of tasks")
      ->check(CLI::Range(1U, queue::kMaxCap));
  cap.add_flag("--off", capped->off, "Remove the cap");
  add_queue_changes(queue, commands);
}

}  // namespace allot::cli
