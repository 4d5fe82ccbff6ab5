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
#include "cli/words/confirm.h"
#include "cli/words/task_view.h"
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
  std::string from;
  std::string to;
  std::string type;        // empty: all
  std::uint32_t rate = 0;  // per second; 0: no limit
  bool yes = false;
  bool json = false;
};

// `made` is the output of --json. For a queue whose tasks wait for each other it says whether new
// tasks wait for the former layout, else how many tasks are in partitions that get no new tasks.
void print_resized(const json& made, bool as_json) {
  if (as_json) return print(made);
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
  print_resized(documents::change(allot, "POST", path, {{"partitions", options.partitions}},
                                  "resize", options.yes),
                options.json);
  return kExitOk;
}

// allot queue max-running QUEUE N: at most N tasks of a key run at the same time in a limited
// queue.
int set_max_running(const Operations& allot, const MaxRunningOptions& options) {
  const std::string path = documents::queue_path(options.queue, "/max_running");
  const json made = allot.put(path, {{"max_running", options.max_running}});
  if (options.json) {
    print(made);
    return kExitOk;
  }
  std::printf("queue %s runs up to %u tasks of a key at a time (before: %u)\n",
              made.at("name").get<std::string>().c_str(), made.at("max_running").get<unsigned>(),
              made.at("max_running_before").get<unsigned>());
  return kExitOk;
}

// allot queue move FROM TO moves waiting tasks to another queue. Exit code 1: some were not moved,
// because a worker leased their partition.
int move_tasks(const Operations& allot, const MoveOptions& options) {
  const Move move{options.from, options.to, options.type, options.rate};
  const std::uint64_t tasks = count_waiting(allot, move);
  if (tasks > 0) {
    confirm("move",
            waiting_text(tasks) +
                (move.type.empty() ? "" : " of type " + printable(move.type, kMaxTypeName)) +
                " from queue " + move.from + " to queue " + move.to,
            options.yes);
  }
  const Moved moved = move_waiting(allot, move, tasks);
  if (options.json) {
    json report{{"tasks", moved.moved + moved.gone + moved.leased}};
    add_moved(report, moved);
    print(report);
  } else {
    print_moved(moved);
  }
  return end_of_move(moved);
}

constexpr int kMostPartitions = 4096;

void add_resize(CLI::App& queue, const Commands& commands) {
  const auto options = std::make_shared<ResizeOptions>();
  CLI::App& resize = *queue.add_subcommand("resize", "Change the number of partitions of a queue");
  resize.add_option("QUEUE", options->queue, "The queue")->required();
  resize.add_option("PARTITIONS", options->partitions, "New number of partitions")
      ->required()
      ->check(CLI::Range(1, kMostPartitions));
  commands.add_reason(resize);
  resize.add_flag("--yes", options->yes, "Do not ask");
  resize.add_flag("--json", options->json, "As JSON");
  resize.callback([commands, options] { commands.choose(resize_queue, options); });
}

void add_max_running(CLI::App& queue, const Commands& commands) {
  const auto options = std::make_shared<MaxRunningOptions>();
  CLI::App& change = *queue.add_subcommand(
      "max-running", "Change the number of tasks of a key that run at a time in a limited queue");
  change.add_option("QUEUE", options->queue, "The queue")->required();
  change.add_option("TASKS", options->max_running, "Number of tasks of a key, over all hosts")
      ->required()
      ->check(CLI::Range(1, kMostPartitions));
  commands.add_reason(change);
  change.add_flag("--json", options->json, "As JSON");
  change.callback([commands, options] { commands.choose(set_max_running, options); });
}

void add_move(CLI::App& queue, const Commands& commands) {
  const auto options = std::make_shared<MoveOptions>();
  CLI::App& move = *queue.add_subcommand("move", "Move waiting tasks to another queue");
  move.add_option("FROM", options->from, "Queue in which they wait")->required();
  move.add_option("TO", options->to, "Queue to which they are moved")->required();
  move.add_option("--type", options->type, "Only tasks of this type")->type_name("TYPE");
  move.add_option("--rate", options->rate, "Maximum number of tasks per second")
      ->check(CLI::Range(1, kMostRate))
      ->type_name("TASKS");
  commands.add_reason(move);
  move.add_flag("--yes", options->yes, "Do not ask; required without a terminal");
  move.add_flag("--json", options->json, "Print the numbers of chosen and moved tasks as JSON");
  move.callback([commands, options] { commands.choose(move_tasks, options); });
}

}  // namespace

void add_queue_changes(CLI::App& queue, const Commands& commands) {
  add_resize(queue, commands);
  add_max_running(queue, commands);
  add_move(queue, commands);
}

}  // namespace allot::cli
