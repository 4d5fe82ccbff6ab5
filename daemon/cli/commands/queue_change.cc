// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "base/names.h"
#include "cli/commands/command.h"
#include "cli/commands/moving.h"
#include "cli/sources/documents.h"
#include "cli/words/terminal.h"
#include "cli/words/text.h"

namespace allot::cli {
namespace {

using nlohmann::json;

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

}  // namespace

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
  move.add_option("--type", moved->move.type, "Only tasks of this type")->type_name("TYPE");
  add_rate(move, moved->move.rate);
  commands.add_reason(move);
  add_yes(move, moved->yes);
  move.get_option("--json")->description("Print the numbers of chosen and moved tasks as JSON");
}

}  // namespace allot::cli
