// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "base/names.h"
#include "cli/commands/command.h"
#include "cli/commands/moving.h"
#include "cli/remote/session.h"
#include "cli/sources/far.h"
#include "cli/sources/queues.h"
#include "cli/words/confirm.h"
#include "cli/words/task_view.h"
#include "cli/words/text.h"
#include "queue/look/inspect.h"
#include "queue/operate/resize.h"

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

// New tasks of the queue wait until its last waiting task is due.
void confirm_late(db::Connection& db, const queue::QueueInfo& queue, bool yes) {
  const auto due = queue::due_late(db, queue);
  if (!due) return;
  confirm("resize",
          "queue " + queue.name + ", whose last task is due at " + *due +
              ": tasks submitted from now on wait until it has run",
          yes);
}

// `made` is the output of --json. For a queue whose tasks wait for each other it says whether new
// tasks wait for the former layout, else how many tasks are in partitions that receive no more.
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

int resize_layout(db::Connection& db, const queue::QueueInfo& before,
                  const ResizeOptions& options) {
  if (options.partitions != before.partitions()) confirm_late(db, before, options.yes);
  const bool waits = queue::resize_layout(db, before, options.partitions) == queue::Resized::kWaits;
  print_resized({{"name", before.name},
                 {"partitions", options.partitions},
                 {"partitions_before", before.partitions()},
                 {"resizing", waits}},
                options.json);
  return kExitOk;
}

// allot queue resize QUEUE N: new tasks go to N partitions. In an ordered or limited queue they
// wait for the earlier tasks.
int resize_queue(const Context& context, const ResizeOptions& options) {
  const config::Settings settings = context.settings();
  db::Connection db = connect_as_operator(context, settings);
  const queue::QueueInfo before = Queues(db, settings).get(options.queue);
  if (before.alone()) return resize_layout(db, before, options);
  queue::resize(db, before, options.partitions);
  const auto retired = queue::count_from(db, before, options.partitions);
  print_resized({{"name", before.name},
                 {"partitions", options.partitions},
                 {"partitions_before", before.partitions()},
                 {"retired_tasks", retired.value},
                 {"retired_tasks_at_least", retired.at_least}},
                options.json);
  return kExitOk;
}

int remote_resize_queue(const remote::Session& gateway, const ResizeOptions& options) {
  const std::string path = far::queue_path(options.queue, "/resize");
  print_resized(far::change(gateway, "POST", path, {{"partitions", options.partitions}}, "resize",
                            options.yes),
                options.json);
  return kExitOk;
}

void print_max_running(const json& made, bool as_json) {
  if (as_json) return print(made);
  std::printf("queue %s runs up to %u tasks of a key at a time (before: %u)\n",
              made.at("name").get<std::string>().c_str(), made.at("max_running").get<unsigned>(),
              made.at("max_running_before").get<unsigned>());
}

// allot queue max-running QUEUE N: at most N tasks of a key run at the same time in a limited
// queue.
int set_max_running(const Context& context, const MaxRunningOptions& options) {
  const config::Settings settings = context.settings();
  db::Connection db = connect_as_operator(context, settings);
  const queue::QueueInfo before = Queues(db, settings).get(options.queue);
  queue::set_max_running(db, before, options.max_running);
  print_max_running({{"name", before.name},
                     {"max_running", options.max_running},
                     {"max_running_before", before.shape.max_running}},
                    options.json);
  return kExitOk;
}

int remote_set_max_running(const remote::Session& gateway, const MaxRunningOptions& options) {
  const std::string path = far::queue_path(options.queue, "/max_running");
  print_max_running(gateway.put(path, {{"max_running", options.max_running}}), options.json);
  return kExitOk;
}

std::string move_text(const std::string& type, const std::string& from, const std::string& to) {
  return (type.empty() ? "" : " of type " + printable(type, kMaxTypeName)) + " from queue " + from +
         " to queue " + to;
}

void print_move(const Moved& moved, std::uint64_t chosen, bool as_json) {
  if (!as_json) return print_moved(moved);
  json told{{"chosen", chosen}};
  add_moved(told, moved);
  print(told);
}

// allot queue move FROM TO moves waiting tasks to another queue. Exit code 1: some were not moved,
// because a worker leased their partition.
int move_tasks(const Context& context, const MoveOptions& options) {
  const config::Settings settings = context.settings();
  db::Connection db = connect_as_operator(context, settings);
  const queue::QueueInfo from = chosen_queues(db, options.from).front();
  const queue::QueueInfo to = Queues(db, settings).get(options.to);
  if (options.from.empty() || from.queue_id == to.queue_id) {
    throw Error("FROM and TO must be two queues", kExitBadInput);
  }
  require_spread(from);
  require_spread(to);
  const auto of_type = [&](const std::string& type) {
    return options.type.empty() || type == options.type;
  };
  const Candidates chosen = choose(db, from, of_type);
  if (chosen.tasks > 0) {
    confirm("move", waiting_text(chosen.tasks) + move_text(options.type, from.name, to.name),
            options.yes);
  }
  const Moved moved = move_chosen(db, settings, from, to, chosen, options.rate);
  print_move(moved, chosen.tasks, options.json);
  return end_of_move(moved);
}

// The gateway scans 10,000 tasks per request, so the tasks are not counted first.
int remote_move_tasks(const remote::Session& gateway, const MoveOptions& options) {
  if (options.rate > 0) remote::no_route("--rate");
  static_cast<void>(far::queue_path(options.from));
  confirm("move", "the waiting tasks" + move_text(options.type, options.from, options.to),
          options.yes);
  const Moved moved = move_far(gateway, options.from, options.to, options.type);
  print_move(moved, moved.moved + moved.gone + moved.leased, options.json);
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
  resize.callback(
      [commands, options] { commands.choose(resize_queue, options, remote_resize_queue); });
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
  change.callback(
      [commands, options] { commands.choose(set_max_running, options, remote_set_max_running); });
}

void add_move(CLI::App& queue, const Commands& commands) {
  const auto options = std::make_shared<MoveOptions>();
  CLI::App& move = *queue.add_subcommand("move", "Move waiting tasks to another queue");
  move.add_option("FROM", options->from, "Queue in which they wait")->required();
  move.add_option("TO", options->to, "Queue to which they are moved")->required();
  move.add_option("--type", options->type, "Only tasks of this type")->type_name("TYPE");
  move.add_option("--rate", options->rate, "Limit of tasks per second")
      ->check(CLI::Range(1, kMostRate))
      ->type_name("TASKS");
  commands.add_reason(move);
  move.add_flag("--yes", options->yes, "Do not ask; required without a terminal");
  move.add_flag("--json", options->json, "Print the numbers of chosen and moved tasks as JSON");
  move.callback([commands, options] { commands.choose(move_tasks, options, remote_move_tasks); });
}

}  // namespace

void add_queue_changes(CLI::App& queue, const Commands& commands) {
  add_resize(queue, commands);
  add_max_running(queue, commands);
  add_move(queue, commands);
}

}  // namespace allot::cli
