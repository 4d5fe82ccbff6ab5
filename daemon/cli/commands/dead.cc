// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "cli/commands/bulk_action.h"
#include "cli/commands/command.h"
#include "cli/sources/queues.h"
#include "cli/sources/ring_local.h"
#include "cli/words/confirm.h"
#include "cli/words/task_view.h"
#include "cli/words/terminal.h"
#include "cli/words/text.h"
#include "json/queue_json.h"
#include "json/task_json.h"
#include "queue/look/dead_letter.h"
#include "queue/look/inspect.h"
#include "queue/operate/bulk_action.h"
#include "queue/operate/dead_tasks.h"

namespace allot::cli {
namespace {

using nlohmann::json;

struct DeadListOptions {
  std::string queue;  // empty: all
  std::uint32_t limit = 50;
  bool json = false;
};

// Chooses dead tasks by ids, by a group, or all of a queue. The command line makes sure that it is
// exactly one of the three.
struct DeadChoice {
  std::vector<std::string> ids;
  std::string group;
  std::string queue;  // of the group (empty: any), or of `all`
  std::string type;   // of the group or of `all`; empty: any
  bool all = false;
  std::uint32_t rate = 0;  // tasks per second at most; 0: no limit
  bool yes = false;        // act on more than named tasks without asking
  bool no_wait = false;
  bool json = false;
};

std::vector<std::string> group_row(const queue::DeadGroup& group, const std::string& queue,
                                   bool counted_all) {
  const std::string pattern = queue::error_pattern(group.newest.error);
  const std::string why = group.newest.cause + (pattern.empty() ? "" : ": " + pattern);
  return {group.group,
          queue,
          printable(group.newest.type, queue::kMaxName),
          std::to_string(group.tasks) + (counted_all ? "" : "+"),
          group.newest.died_at,
          group.newest.id.text(),
          printable(why, kShownError)};
}

std::vector<queue::TaskId> chosen_by_id(db::Connection& db, const std::vector<std::string>& words) {
  std::vector<queue::TaskId> chosen;
  for (const std::string& word : words) {
    const queue::TaskId id = parse_task_id(word);
    const auto task = queue::show(db, id);
    if (!task || !task->dead) {
      throw Error("no dead task has the id " + id.text() +
                  (task ? ": it is " + std::string(task->running ? "running" : "waiting")
                        : ": it finished, was discarded, or never existed"));
    }
    chosen.push_back(id);
  }
  std::sort(chosen.begin(), chosen.end());
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  return chosen;
}

// What many tasks were chosen by, and how many they were.
struct Counted {
  queue::QueueInfo queue;
  queue::BulkFilter filter;
  queue::BulkCount count;

  [[nodiscard]] std::string text() const {
    return dead_tasks_text(count.tasks, count.more) + " of queue " + queue.name +
           (filter.group.empty() ? "" : ", group " + filter.group) +
           (filter.type.empty() ? "" : ", type " + printable(filter.type, queue::kMaxName));
  }
};

// A group is one of a single queue, which need not be named.
Counted count_chosen(db::Connection& db, queue::BulkKind kind, const DeadChoice& choice) {
  const queue::BulkFilter filter{choice.group, choice.type};
  bool more = false;
  for (const queue::QueueInfo& queue : chosen_queues(db, choice.queue)) {
    auto count = queue::count_bulk(db, kind, queue, filter, queue::kCountBound);
    // In a queue with more dead tasks than are counted there may be some of these.
    const bool taken = choice.all || count.tasks > 0 || (!choice.queue.empty() && count.more);
    if (taken) return {queue, filter, std::move(count)};
    more = more || count.more;
  }
  throw Error(
      "no dead task is in a group '" + printable(choice.group, 40) + "'" +
      (more ? ", as far as was looked; name its --queue" : "; allot dead groups lists them"));
}

// Calls `act` with one batch of ids after the other, not faster than `rate` tasks per second.
template <typename Act>
std::uint64_t in_batches(const std::vector<queue::TaskId>& ids, std::uint32_t rate,
                         Progress& progress, Act&& act) {
  using std::chrono::steady_clock;
  const std::size_t batch =
      rate == 0 ? queue::kDeadBatch : std::clamp<std::size_t>(rate / 10, 1, queue::kDeadBatch);
  auto next = steady_clock::now();
  std::uint64_t done = 0;
  for (std::size_t i = 0; i < ids.size(); i += batch) {
    std::this_thread::sleep_until(next);
    const std::size_t count = std::min(batch, ids.size() - i);
    done += act(std::span(ids).subspan(i, count));
    progress.show(i + count, done);
    if (rate > 0) next += std::chrono::nanoseconds(std::uint64_t{1'000'000'000} * count / rate);
  }
  return done;
}

// Tasks that are named have this done to them at once, and here.
template <typename Act>
int act_on_named(const Context& context, const DeadChoice& choice, const std::string& past,
                 Act&& act) {
  const config::Settings settings = context.settings();
  db::Connection db = connect(settings);
  const auto ids = chosen_by_id(db, choice.ids);
  Progress progress(ids.size());
  const std::uint64_t done = in_batches(
      ids, choice.rate, progress,
      [&](std::span<const queue::TaskId> some) { return act(settings, db, some, progress); });
  progress.wipe();
  if (choice.json) {
    print(json{{"chosen", ids.size()}, {past, done}});
  } else {
    std::printf("%s %s\n", past.c_str(), dead_tasks_text(done).c_str());
  }
  return kExitOk;
}

void report(const DeadChoice& choice, const std::string& past, const Counted& counted,
            const std::optional<queue::BulkAction>& action) {
  const std::uint64_t done = action ? action->done : 0;
  if (choice.json) {
    print(json{{"action", action ? json(action->action_id) : json(nullptr)},
               {"chosen", counted.count.tasks},
               {"chosen_at_least", counted.count.more},
               {"state", action ? json(queue::name_of(action->state)) : json(nullptr)},
               {past, done}});
  } else if (action && choice.no_wait) {
    std::printf("bulk action %llu: allot bulk show %llu\n",
                static_cast<unsigned long long>(action->action_id),
                static_cast<unsigned long long>(action->action_id));
  } else {
    std::printf("%s %s\n", past.c_str(), dead_tasks_text(done).c_str());
  }
}

// Many tasks are counted first; then a bulk action, which goes on without this process, does it.
int act_on_many(const Context& context, const DeadChoice& choice, queue::BulkKind kind,
                const std::string& verb, const std::string& past) {
  const config::Settings settings = context.settings();
  db::Connection db = connect(settings);
  const Counted counted = count_chosen(db, kind, choice);
  std::optional<queue::BulkAction> action;
  if (counted.count.tasks > 0 || counted.count.more) {
    confirm(verb, counted.text(), choice.yes);
    const std::uint64_t action_id = queue::begin_bulk(
        db, counted.queue, {kind, counted.filter, counted.count.token, choice.rate, asked_by()});
    ring_local_steward(settings);
    action =
        choice.no_wait ? queue::find_bulk(db, action_id) : follow_bulk(settings, db, action_id);
    if (action && !choice.no_wait) require_done(*action);
  }
  report(choice, past, counted, action);
  return kExitOk;
}

// allot dead list shows the newest first, `limit` of each queue.
int list_dead(const Context& context, const DeadListOptions& options) {
  db::Connection db = connect(context.settings());
  json list = json::array();
  Table table({"TASK", "QUEUE", "TYPE", "PRIO", "ATTEMPTS", "BYTES", "DIED", "WHY"});
  for (const queue::QueueInfo& queue : chosen_queues(db, options.queue)) {
    const auto views = queue::list_dead(db, queue, options.limit);
    for (const queue::TaskView& task : views) {
      if (options.json) {
        list.push_back(as_json::task(task, queue.name));
      } else {
        table.add(view_row(task, queue.name));
      }
    }
    say_limit(queue.name, views.size(), options.limit, options.json);
  }
  if (options.json) {
    print(list);
  } else {
    std::printf("%s", table.text(wants_colour(STDOUT_FILENO)).c_str());
  }
  return kExitOk;
}

// allot dead groups counts the dead tasks of each type, cause and error pattern; it shows the
// `limit` largest groups of each queue.
int dead_groups(const Context& context, const DeadListOptions& options) {
  db::Connection db = connect(context.settings());
  json list = json::array();
  Table table({"GROUP", "QUEUE", "TYPE", "TASKS", "NEWEST", "NEWEST TASK", "WHY"});
  for (const queue::QueueInfo& queue : chosen_queues(db, options.queue)) {
    queue::DeadGroups groups = queue::dead_groups(db, queue, queue::kCountBound);
    groups.list.resize(std::min<std::size_t>(groups.list.size(), options.limit));
    for (const queue::DeadGroup& group : groups.list) {
      if (options.json) {
        list.push_back(as_json::dead_group(group, queue.name, groups.counted_all));
      } else {
        table.add(group_row(group, queue.name, groups.counted_all));
      }
    }
    say_limit(queue.name, groups.list.size(), options.limit, options.json);
  }
  if (options.json) {
    print(list);
  } else {
    std::printf("%s", table.text(wants_colour(STDOUT_FILENO)).c_str());
  }
  return kExitOk;
}

// allot dead retry, allot dead discard.
int retry_dead(const Context& context, const DeadChoice& choice) {
  if (choice.ids.empty()) {
    return act_on_many(context, choice, queue::BulkKind::kRetryDead, "retry", "retried");
  }
  return act_on_named(context, choice, "retried",
                      [](const config::Settings& settings, db::Connection& db,
                         std::span<const queue::TaskId> ids, Progress& progress) {
                        queue::MovedIds moved;
                        const std::uint64_t count = queue::retry_dead(db, ids, &moved);
                        if (!moved.empty()) progress.wipe();
                        for (const auto& [from, to] : moved) {
                          std::fprintf(stderr, "%s is %s now: its queue was resized\n",
                                       from.text().c_str(), to.text().c_str());
                        }
                        std::map<std::uint32_t, std::size_t> tasks;
                        for (const queue::TaskId& id : ids) ++tasks[id.partition.queue_id];
                        ring_local(settings, tasks);
                        return count;
                      });
}

int discard_dead(const Context& context, const DeadChoice& choice) {
  if (choice.ids.empty()) {
    return act_on_many(context, choice, queue::BulkKind::kDiscardDead, "discard", "discarded");
  }
  return act_on_named(context, choice, "discarded",
                      [](const config::Settings& /*settings*/, db::Connection& db,
                         std::span<const queue::TaskId> ids,
                         Progress& /*progress*/) { return queue::discard_dead(db, ids); });
}

void add_list(CLI::App& list, const Commands& commands,
              int (*run)(const Context&, const DeadListOptions&)) {
  const auto options = std::make_shared<DeadListOptions>();
  list.add_option("QUEUE", options->queue, "Only of this queue");
  list.add_option("--limit", options->limit, "At most so many of each queue")
      ->check(CLI::Range(1, kMostListed))
      ->type_name("ROWS")
      ->capture_default_str();
  list.add_flag("--json", options->json, "As JSON");
  list.callback([commands, run, options] { commands.choose(run, options); });
}

void add_act(CLI::App& act, const Commands& commands,
             int (*run)(const Context&, const DeadChoice&)) {
  const auto choice = std::make_shared<DeadChoice>();
  auto* ids = act.add_option("ID", choice->ids, "The ids of dead tasks");
  auto* group = act.add_option("--group", choice->group, "A group, as allot dead groups shows it");
  auto* queue = act.add_option("--queue", choice->queue, "Of this queue");
  auto* all = act.add_flag("--all", choice->all, "All dead tasks of --queue");
  group->type_name("GROUP")->excludes(ids);
  queue->type_name("QUEUE")->excludes(ids);
  all->needs(queue)->excludes(ids)->excludes(group);
  act.add_option("--type", choice->type, "Only tasks of this type")
      ->type_name("TYPE")
      ->excludes(ids);
  act.add_flag("--no-wait", choice->no_wait, "Only begin the bulk action; see allot bulk")
      ->excludes(ids);
  act.add_option("--rate", choice->rate, "At most so many per second")
      ->check(CLI::Range(1, kMostRate))
      ->type_name("TASKS");
  act.add_flag("--yes", choice->yes, "Do not ask; needed where there is no terminal");
  act.add_flag("--json", choice->json, "Print how many were chosen and done, as JSON");
  act.callback([commands, run, choice] {
    if (choice->ids.empty() && choice->group.empty() && !choice->all) {
      throw CLI::RequiredError("ID, --group, or --queue with --all");
    }
    commands.choose(run, choice);
  });
}

}  // namespace

void add_dead(CLI::App& app, const Commands& commands) {
  CLI::App& dead = *app.add_subcommand("dead", "List, retry or discard dead tasks");
  dead.require_subcommand(1);
  add_list(*dead.add_subcommand("list", "List dead tasks, the newest first"), commands, list_dead);
  add_list(*dead.add_subcommand("groups", "Count dead tasks by type, cause and error"), commands,
           dead_groups);
  add_act(*dead.add_subcommand("retry", "Put dead tasks back, with all attempts before them"),
          commands, retry_dead);
  add_act(*dead.add_subcommand("discard", "Remove dead tasks for good"), commands, discard_dead);
}

}  // namespace allot::cli
