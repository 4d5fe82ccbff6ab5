// SPDX-License-Identifier: Apache-2.0
#include "cli/operators.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/dead.h"
#include "cli/queue_admin.h"
#include "cli/why.h"

namespace allot::cli {
namespace {

constexpr int kMostListed = 1'000'000;
constexpr int kMostRate = 1'000'000;

struct Commands {
  const Context& context;
  std::function<int()>& command;

  // What a callback does: `run` with the context and with options that live as long as it.
  template <typename Options>
  [[nodiscard]] std::function<void()> set(int (*run)(const Context&, const Options&),
                                          std::shared_ptr<Options> options) const {
    return [&context = context, &command = command, run, options] {
      command = [&context, run, options] { return run(context, *options); };
    };
  }
};

void add_dead_list(CLI::App& dead, const Commands& commands, const char* name, const char* what,
                   int (*run)(const Context&, const DeadListOptions&)) {
  auto options = std::make_shared<DeadListOptions>();
  CLI::App* list = dead.add_subcommand(name, what);
  list->add_option("QUEUE", options->queue, "Only of this queue");
  list->add_option("--limit", options->limit, "At most so many of each queue")
      ->check(CLI::Range(1, kMostListed))
      ->type_name("ROWS")
      ->capture_default_str();
  list->add_flag("--json", options->json, "As JSON");
  list->callback(commands.set(run, options));
}

void add_dead_act(CLI::App& dead, const Commands& commands, const char* name, const char* what,
                  int (*run)(const Context&, const DeadChoice&)) {
  auto choice = std::make_shared<DeadChoice>();
  CLI::App* act = dead.add_subcommand(name, what);
  auto* ids = act->add_option("ID", choice->ids, "The ids of dead tasks");
  auto* group = act->add_option("--group", choice->group, "A group, as allot dead groups shows it");
  auto* queue = act->add_option("--queue", choice->queue, "Of this queue");
  auto* all = act->add_flag("--all", choice->all, "All dead tasks of --queue");
  group->type_name("GROUP")->excludes(ids);
  queue->type_name("QUEUE")->excludes(ids);
  all->needs(queue)->excludes(ids)->excludes(group);
  act->add_option("--rate", choice->rate, "At most so many per second")
      ->check(CLI::Range(1, kMostRate))
      ->type_name("TASKS");
  act->add_flag("--yes", choice->yes, "Do not ask; needed where there is no terminal");
  act->add_flag("--json", choice->json, "Print how many were chosen and done, as JSON");
  act->callback([choice, done = commands.set(run, choice)] {
    if (choice->ids.empty() && choice->group.empty() && !choice->all) {
      throw CLI::RequiredError("ID, --group, or --queue with --all");
    }
    done();
  });
}

void add_dead(CLI::App& app, const Commands& commands) {
  CLI::App* dead = app.add_subcommand("dead", "List, retry or discard dead tasks");
  dead->require_subcommand(1);
  add_dead_list(*dead, commands, "list", "List dead tasks, the newest first", list_dead);
  add_dead_list(*dead, commands, "groups", "Count dead tasks by type, cause and error",
                dead_groups);
  add_dead_act(*dead, commands, "retry", "Put dead tasks back, with all attempts before them",
               retry_dead);
  add_dead_act(*dead, commands, "discard", "Remove dead tasks for good", discard_dead);
}

CLI::App* add_queue_act(CLI::App& group, const Commands& commands, const char* name,
                        const char* what, int (*run)(const Context&, const QueueOptions&),
                        const std::shared_ptr<QueueOptions>& options) {
  CLI::App* act = group.add_subcommand(name, what);
  act->add_flag("--json", options->json, "As JSON");
  act->callback(commands.set(run, options));
  return act;
}

void add_queue(CLI::App& app, const Commands& commands) {
  CLI::App* queue = app.add_subcommand("queue", "List, pause or resume queues");
  queue->require_subcommand(1);
  auto options = std::make_shared<QueueOptions>();  // of the one that is chosen
  add_queue_act(*queue, commands, "list", "List the queues", list_queues, options);
  CLI::App* pause =
      add_queue_act(*queue, commands, "pause",
                    "Let no host start tasks of a queue; what runs finishes", pause_queue, options);
  pause->add_option("QUEUE", options->queue, "The queue")->required();
  pause->add_option("--reason", options->reason, "Why, for whoever looks")->type_name("TEXT");
  CLI::App* resume =
      add_queue_act(*queue, commands, "resume", "Let a paused queue go on", resume_queue, options);
  resume->add_option("QUEUE", options->queue, "The queue")->required();
}

void add_why(CLI::App& app, const Commands& commands) {
  auto options = std::make_shared<WhyOptions>();
  CLI::App* why = app.add_subcommand("why", "Say in words why a task is not running");
  why->add_option("ID", options->id, "The task's id")->required();
  why->add_flag("--json", options->json, "As JSON");
  why->callback(commands.set(allot::cli::why, options));
}

void add_cancel(CLI::App& task, const Commands& commands) {
  auto options = std::make_shared<CancelOptions>();
  CLI::App* cancel =
      task.add_subcommand("cancel", "Take a waiting task out; it becomes a dead one");
  cancel->add_option("ID", options->id, "The task's id")->required();
  cancel->add_option("--reason", options->reason, "Why, for whoever looks")->type_name("TEXT");
  cancel->add_flag("--json", options->json, "As JSON");
  cancel->callback(commands.set(cancel_task, options));
}

}  // namespace

void add_operators(CLI::App& app, const Context& context, std::function<int()>& command) {
  const Commands commands{context, command};
  add_dead(app, commands);
  add_queue(app, commands);
  add_why(app, commands);
  add_cancel(*app.get_subcommand("task"), commands);
}

}  // namespace allot::cli
