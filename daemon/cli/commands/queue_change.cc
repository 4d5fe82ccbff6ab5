// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "cli/commands/command.h"
#include "cli/sources/queues.h"
#include "cli/sources/ring_local.h"
#include "cli/words/confirm.h"
#include "cli/words/task_view.h"
#include "cli/words/terminal.h"
#include "cli/words/text.h"
#include "queue/look/inspect.h"
#include "queue/operate/move.h"
#include "queue/operate/resize.h"

namespace allot::cli {
namespace {

using nlohmann::json;
using std::chrono::steady_clock;

struct ResizeOptions {
  std::string queue;
  std::uint32_t partitions = 0;
  bool yes = false;
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

// How long to wait for a leased partition: workers release it after block_seconds.
constexpr auto kPatience = std::chrono::seconds(5);
constexpr auto kPause = std::chrono::milliseconds(10);

std::string waiting_text(std::uint64_t count) {
  return std::to_string(count) + " task" + (count == 1 ? "" : "s");
}

struct Candidates {
  std::map<queue::Partition, std::vector<queue::Waiting>> partitions;
  std::uint64_t tasks = 0;
  std::uint64_t unique = 0;  // tasks that stay where they are
};

Candidates choose(db::Connection& db, const queue::QueueInfo& from, const std::string& type) {
  Candidates chosen;
  queue::each_waiting(db, from, [&](const queue::Waiting& task) {
    if (!type.empty() && task.type != type) return true;
    if (task.unique) {
      ++chosen.unique;
    } else {
      chosen.partitions[task.partition].push_back(task);
      ++chosen.tasks;
    }
    return true;
  });
  return chosen;
}

class Move {
 public:
  Move(db::Connection& db, const config::Settings& settings, const queue::QueueInfo& to,
       const Candidates& chosen, std::uint32_t rate)
      : db_(db),
        mover_(queue::make_holder(settings.daemon.instance, config::runtime_dir(settings))),
        to_(to),
        rate_(rate),
        progress_(chosen.tasks) {
    // Several partitions get a share even of few tasks (S18).
    const std::uint64_t share = chosen.tasks / std::max(1U, to.partitions()) + 1;
    const std::uint64_t a_tenth = rate == 0 ? queue::kMoveBatch : std::max(1U, rate / 10);
    batch_ = std::min<std::uint64_t>({share, a_tenth, queue::kMoveBatch});
  }

  // Moves all tasks of one partition; stops there when its holder does not release it.
  void run(std::span<const queue::Waiting> tasks) {
    while (!tasks.empty()) {
      const auto some = tasks.first(std::min<std::size_t>(batch_, tasks.size()));
      std::this_thread::sleep_until(next_);
      const auto moved = patiently(some);
      if (!moved) {
        leased_ += tasks.size();
        return;
      }
      moved_ += *moved;
      gone_ += some.size() - *moved;
      progress_.show(moved_ + gone_ + leased_, moved_);
      if (rate_ > 0) next_ += std::chrono::nanoseconds(1'000'000'000ULL * some.size() / rate_);
      tasks = tasks.subspan(some.size());
    }
  }

  // Call it before another line is written.
  void end() { progress_.wipe(); }

  [[nodiscard]] std::uint64_t moved() const { return moved_; }
  [[nodiscard]] std::uint64_t leased() const { return leased_; }
  [[nodiscard]] std::uint64_t gone() const { return gone_; }

 private:
  std::optional<std::uint64_t> patiently(std::span<const queue::Waiting> tasks) {
    const queue::Partition to{to_.queue_id, turn_++ % to_.partitions()};
    const auto until = steady_clock::now() + kPatience;
    for (;;) {
      const auto moved = mover_.move(db_, tasks, to);
      if (moved || steady_clock::now() >= until) return moved;
      std::this_thread::sleep_for(kPause);
    }
  }

  db::Connection& db_;
  queue::Mover mover_;
  const queue::QueueInfo& to_;
  std::uint32_t rate_;
  Progress progress_;
  std::uint64_t batch_ = 1;
  std::uint32_t turn_ = 0;
  steady_clock::time_point next_ = steady_clock::now();
  std::uint64_t moved_ = 0;
  std::uint64_t leased_ = 0;
  std::uint64_t gone_ = 0;
};

// Waiting tasks would run beside new ones of their keys (S16).
void require_spread(const queue::QueueInfo& queue) {
  if (queue.alone()) {
    throw Error("queue '" + queue.name + "' is " +
                    std::string(queue::name_of(queue.shape.placement)) +
                    ": its tasks are not moved; make another queue, submit to that one, and let "
                    "this one run empty",
                kExitBadInput);
  }
  if (queue.shape.placement == queue::Placement::kSpread) return;
  throw Error("queue '" + queue.name + "' is fair: its tasks are where their keys are",
              kExitBadInput);
}

// New tasks of the queue wait as long as its last waiting one.
void confirm_late(db::Connection& db, const queue::QueueInfo& queue, bool yes) {
  const auto due = queue::due_late(db, queue);
  if (!due) return;
  confirm("resize",
          "queue " + queue.name + ", whose last task is due at " + *due +
              ": what is submitted from now on waits until it has run",
          yes);
}

int resize_layout(db::Connection& db, const queue::QueueInfo& before,
                  const ResizeOptions& options) {
  if (options.partitions != before.partitions()) confirm_late(db, before, options.yes);
  const bool waits = queue::resize_layout(db, before, options.partitions) == queue::Resized::kWaits;
  if (options.json) {
    print({{"name", before.name},
           {"partitions", options.partitions},
           {"partitions_before", before.partitions()},
           {"resizing", waits}});
    return kExitOk;
  }
  std::printf("queue %s has %u partitions (before: %u)\n", before.name.c_str(), options.partitions,
              before.partitions());
  if (waits) std::printf("new tasks wait until those that were submitted before have run\n");
  return kExitOk;
}

std::string stay_text(std::uint64_t tasks) {
  return waiting_text(tasks) + (tasks == 1 ? " stays" : " stay");
}

// allot queue resize QUEUE N: new tasks go to N partitions from now on. In an ordered or limited
// queue they wait for the earlier ones.
int resize_queue(const Context& context, const ResizeOptions& options) {
  const config::Settings settings = context.settings();
  db::Connection db = connect(settings);
  const queue::QueueInfo before = Queues(db, settings).get(options.queue);
  if (before.alone()) return resize_layout(db, before, options);
  queue::resize(db, before, options.partitions);
  const auto retired = queue::count_from(db, before, options.partitions);
  if (options.json) {
    print({{"name", before.name},
           {"partitions", options.partitions},
           {"partitions_before", before.partitions()},
           {"retired_tasks", retired.value},
           {"retired_tasks_at_least", retired.at_least}});
    return kExitOk;
  }
  std::printf("queue %s has %u partitions (before: %u)\n", before.name.c_str(), options.partitions,
              before.partitions());
  if (retired.value > 0) {
    std::printf("%s%s in partitions that get no more: they run as before\n",
                waiting_text(retired.value).c_str(), retired.at_least ? " or more" : "");
  }
  return kExitOk;
}

// allot queue move FROM TO moves waiting tasks to another queue. Exit code 1: some stay, because a
// worker had their partition.
int move_tasks(const Context& context, const MoveOptions& options) {
  const config::Settings settings = context.settings();
  db::Connection db = connect(settings);
  const queue::QueueInfo from = chosen_queues(db, options.from).front();
  const queue::QueueInfo to = Queues(db, settings).get(options.to);
  if (options.from.empty() || from.queue_id == to.queue_id) {
    throw Error("FROM and TO must be two queues", kExitBadInput);
  }
  require_spread(from);
  require_spread(to);
  const Candidates chosen = choose(db, from, options.type);
  const std::string what =
      waiting_text(chosen.tasks) +
      (options.type.empty() ? "" : " of type " + printable(options.type, queue::kMaxName)) +
      " from queue " + from.name + " to queue " + to.name;
  if (chosen.tasks > 0) confirm("move", what, options.yes);
  Move move(db, settings, to, chosen, options.rate);
  for (const auto& [partition, tasks] : chosen.partitions) move.run(tasks);
  move.end();
  ring_local(settings, {{to.queue_id, move.moved()}});
  if (options.json) {
    print({{"chosen", chosen.tasks},
           {"moved", move.moved()},
           {"gone", move.gone()},
           {"leased", move.leased()},
           {"unique", chosen.unique}});
  } else {
    std::printf("moved %s\n", waiting_text(move.moved()).c_str());
    if (move.gone() > 0) {
      std::printf("%s meanwhile ran, or began to\n", waiting_text(move.gone()).c_str());
    }
    if (chosen.unique > 0) {
      std::printf("%s: a unique key belongs to its queue\n", stay_text(chosen.unique).c_str());
    }
  }
  if (move.leased() == 0) return kExitOk;
  std::fprintf(stderr, "%s %s: workers have the partitions; pause the queue, or try again\n",
               error_head().c_str(), stay_text(move.leased()).c_str());
  return kExitFailure;
}

constexpr int kMostPartitions = 4096;

void add_resize(CLI::App& queue, const Commands& commands) {
  const auto options = std::make_shared<ResizeOptions>();
  CLI::App& resize = *queue.add_subcommand("resize", "Give a queue another number of partitions");
  resize.add_option("QUEUE", options->queue, "The queue")->required();
  resize.add_option("PARTITIONS", options->partitions, "How many, from now on")
      ->required()
      ->check(CLI::Range(1, kMostPartitions));
  resize.add_flag("--yes", options->yes, "Do not ask");
  resize.add_flag("--json", options->json, "As JSON");
  resize.callback([commands, options] { commands.choose(resize_queue, options); });
}

void add_move(CLI::App& queue, const Commands& commands) {
  const auto options = std::make_shared<MoveOptions>();
  CLI::App& move = *queue.add_subcommand("move", "Put waiting tasks into another queue");
  move.add_option("FROM", options->from, "The queue they wait in")->required();
  move.add_option("TO", options->to, "The queue they go to")->required();
  move.add_option("--type", options->type, "Only tasks of this type")->type_name("TYPE");
  move.add_option("--rate", options->rate, "At most so many per second")
      ->check(CLI::Range(1, kMostRate))
      ->type_name("TASKS");
  move.add_flag("--yes", options->yes, "Do not ask; needed where there is no terminal");
  move.add_flag("--json", options->json, "Print how many were chosen and moved, as JSON");
  move.callback([commands, options] { commands.choose(move_tasks, options); });
}

}  // namespace

void add_queue_changes(CLI::App& queue, const Commands& commands) {
  add_resize(queue, commands);
  add_move(queue, commands);
}

}  // namespace allot::cli
