// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/operators.h"

#include <CLI/CLI.hpp>

#include "cli/words/due.h"

namespace allot::cli {
namespace {

constexpr int kMostListed = 1'000'000;
constexpr int kMostRate = 1'000'000;
constexpr int kMostPartitions = 4096;

struct Commands {
  const Context& context;
  std::function<int()>& command;

  // The parser chooses `run` with these options.
  template <typename Options>
  void choose(int (*run)(const Context&, const Options&), const Options& options) const {
    command = [&context = context, &options, run] { return run(context, options); };
  }
};

void add_dead_list(CLI::App& list, const Commands& commands, DeadListOptions& options,
                   int (*run)(const Context&, const DeadListOptions&)) {
  list.add_option("QUEUE", options.queue, "Only of this queue");
  list.add_option("--limit", options.limit, "At most so many of each queue")
      ->check(CLI::Range(1, kMostListed))
      ->type_name("ROWS")
      ->capture_default_str();
  list.add_flag("--json", options.json, "As JSON");
  list.callback([commands, run, &options] { commands.choose(run, options); });
}

void add_dead_act(CLI::App& act, const Commands& commands, DeadChoice& choice,
                  int (*run)(const Context&, const DeadChoice&)) {
  auto* ids = act.add_option("ID", choice.ids, "The ids of dead tasks");
  auto* group = act.add_option("--group", choice.group, "A group, as allot dead groups shows it");
  auto* queue = act.add_option("--queue", choice.queue, "Of this queue");
  auto* all = act.add_flag("--all", choice.all, "All dead tasks of --queue");
  group->type_name("GROUP")->excludes(ids);
  queue->type_name("QUEUE")->excludes(ids);
  all->needs(queue)->excludes(ids)->excludes(group);
  act.add_option("--rate", choice.rate, "At most so many per second")
      ->check(CLI::Range(1, kMostRate))
      ->type_name("TASKS");
  act.add_flag("--yes", choice.yes, "Do not ask; needed where there is no terminal");
  act.add_flag("--json", choice.json, "Print how many were chosen and done, as JSON");
  act.callback([commands, run, &choice] {
    if (choice.ids.empty() && choice.group.empty() && !choice.all) {
      throw CLI::RequiredError("ID, --group, or --queue with --all");
    }
    commands.choose(run, choice);
  });
}

void add_dead(CLI::App& app, const Commands& commands, OperatorWords& words) {
  CLI::App& dead = *app.add_subcommand("dead", "List, retry or discard dead tasks");
  dead.require_subcommand(1);
  add_dead_list(*dead.add_subcommand("list", "List dead tasks, the newest first"), commands,
                words.dead_list, list_dead);
  add_dead_list(*dead.add_subcommand("groups", "Count dead tasks by type, cause and error"),
                commands, words.dead_groups, dead_groups);
  add_dead_act(*dead.add_subcommand("retry", "Put dead tasks back, with all attempts before them"),
               commands, words.dead_retry, retry_dead);
  add_dead_act(*dead.add_subcommand("discard", "Remove dead tasks for good"), commands,
               words.dead_discard, discard_dead);
}

// The three commands share these options, and the parser chooses one.
CLI::App& add_queue_act(CLI::App& act, const Commands& commands, QueueOptions& options,
                        int (*run)(const Context&, const QueueOptions&)) {
  act.add_flag("--json", options.json, "As JSON");
  act.callback([commands, run, &options] { commands.choose(run, options); });
  return act;
}

CLI::App& add_queue(CLI::App& app, const Commands& commands, QueueOptions& options) {
  CLI::App& queue = *app.add_subcommand("queue", "List, pause, resume, resize or empty queues");
  queue.require_subcommand(1);
  add_queue_act(*queue.add_subcommand("list", "List the queues"), commands, options, list_queues);
  CLI::App& pause = add_queue_act(
      *queue.add_subcommand("pause", "Let no host start tasks of a queue; what runs finishes"),
      commands, options, pause_queue);
  pause.add_option("QUEUE", options.queue, "The queue")->required();
  pause.add_option("--reason", options.reason, "Why, for people who look")->type_name("TEXT");
  CLI::App& resume = add_queue_act(*queue.add_subcommand("resume", "Let a paused queue go on"),
                                   commands, options, resume_queue);
  resume.add_option("QUEUE", options.queue, "The queue")->required();
  return queue;
}

void add_queue_changes(CLI::App& queue, const Commands& commands, OperatorWords& words) {
  CLI::App& resize = *queue.add_subcommand("resize", "Give a queue another number of partitions");
  resize.add_option("QUEUE", words.resize.queue, "The queue")->required();
  resize.add_option("PARTITIONS", words.resize.partitions, "How many, from now on")
      ->required()
      ->check(CLI::Range(1, kMostPartitions));
  resize.add_flag("--yes", words.resize.yes, "Do not ask");
  resize.add_flag("--json", words.resize.json, "As JSON");
  resize.callback([commands, &words] { commands.choose(resize_queue, words.resize); });

  CLI::App& move = *queue.add_subcommand("move", "Put waiting tasks into another queue");
  move.add_option("FROM", words.move.from, "The queue they wait in")->required();
  move.add_option("TO", words.move.to, "The queue they go to")->required();
  move.add_option("--type", words.move.type, "Only tasks of this type")->type_name("TYPE");
  move.add_option("--rate", words.move.rate, "At most so many per second")
      ->check(CLI::Range(1, kMostRate))
      ->type_name("TASKS");
  move.add_flag("--yes", words.move.yes, "Do not ask; needed where there is no terminal");
  move.add_flag("--json", words.move.json, "Print how many were chosen and moved, as JSON");
  move.callback([commands, &words] { commands.choose(move_tasks, words.move); });
}

void add_why(CLI::App& app, const Commands& commands, WhyOptions& options) {
  CLI::App& command = *app.add_subcommand("why", "Say in words why a task is not running");
  command.add_option("ID", options.id, "The task's id")->required();
  command.add_flag("--json", options.json, "As JSON");
  command.callback([commands, &options] { commands.choose(why, options); });
}

void add_cancel(CLI::App& task, const Commands& commands, CancelOptions& options) {
  CLI::App& cancel = *task.add_subcommand(
      "cancel", "Take a task out, also one that runs; it becomes a dead or done one");
  cancel.add_option("ID", options.id, "The task's id")->required();
  cancel.add_option("--reason", options.reason, "Why, for people who look")->type_name("TEXT");
  cancel.add_flag("--as-done", options.as_done, "It ends as if it had succeeded, and is not dead");
  cancel.add_flag("--json", options.json, "As JSON");
  cancel.callback([commands, &options] { commands.choose(cancel_task, options); });
}

void add_drain(CLI::App& app, const Commands& commands, DrainOptions& options) {
  CLI::App& command = *app.add_subcommand(
      "drain", "Run what is due in a queue without the daemon, and end: for cron");
  command.add_option("--queue", options.queue, "The queue")->required()->type_name("QUEUE");
  command.add_option("--max-tasks", options.max_tasks, "Start no more attempts than this")
      ->check(CLI::Range(1, 1'000'000'000))
      ->type_name("TASKS");
  command.add_option("--max-seconds", options.max_seconds, "Start no more attempts after this")
      ->check(CLI::Range(1, 86'400 * 30))
      ->type_name("SECONDS");
  command.add_option("--jobs", options.jobs, "So many workers")
      ->check(CLI::Range(1U, config::kMaxWorkers))
      ->type_name("WORKERS")
      ->capture_default_str();
  command.add_option("--at-most", options.at_most, "Do nothing if so many of its drains run here")
      ->check(CLI::Range(1, 256))
      ->type_name("DRAINS")
      ->capture_default_str();
  command.add_flag("--json", options.json, "As JSON");
  command.callback([commands, &options] { commands.choose(drain, options); });
}

void add_doctor(CLI::App& app, const Commands& commands, DoctorOptions& options) {
  CLI::App& command =
      *app.add_subcommand("doctor", "Look for what is wrong, and say how to fix it");
  command.add_flag("--json", options.json, "As JSON");
  command.callback([commands, &options] { commands.choose(doctor, options); });
}

void add_top(CLI::App& app, const Commands& commands, TopOptions& options) {
  CLI::App& command =
      *app.add_subcommand("top", "Watch this host's workers: rates and running tasks");
  command
      .add_option_function<std::string>(
          "--interval",
          [&options](const auto& text) { options.interval = parse_delay("--interval", text); },
          "Between two looks: 300ms, 2s [1s]")
      ->type_name("TIME");
  command.add_flag("--once", options.once, "Print once, after one interval");
  command.add_flag("--json", options.json, "Once, as JSON");
  command.callback([commands, &options] { commands.choose(top, options); });
}

}  // namespace

void add_operators(CLI::App& app, const Context& context, OperatorWords& words,
                   std::function<int()>& command) {
  const Commands commands{context, command};
  add_dead(app, commands, words);
  add_queue_changes(add_queue(app, commands, words.queue), commands, words);
  add_why(app, commands, words.why);
  add_doctor(app, commands, words.doctor);
  add_top(app, commands, words.top);
  add_drain(app, commands, words.drain);
  add_cancel(*app.get_subcommand("task"), commands, words.cancel);
}

}  // namespace allot::cli
