// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/dead.h"

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

#include "base/names.h"
#include "cli/commands/bulk_action.h"
#include "cli/commands/command.h"
#include "cli/remote/session.h"
#include "cli/sources/far.h"
#include "cli/sources/queues.h"
#include "cli/sources/ring_local.h"
#include "cli/words/confirm.h"
#include "cli/words/listing.h"
#include "cli/words/task_view.h"
#include "cli/words/terminal.h"
#include "cli/words/text.h"
#include "json/queue_json.h"
#include "json/shown_reader.h"
#include "json/task_json.h"
#include "json/view_reader.h"
#include "queue/look/dead_letter.h"
#include "queue/look/inspect.h"
#include "queue/operate/bulk_action.h"
#include "queue/operate/dead_tasks.h"

namespace allot::cli {
namespace {

using nlohmann::json;

struct DeadListOptions {
  std::string queue;  // empty: all
  std::string group;  // of the listed tasks; empty: any
  std::uint32_t limit = 50;
  bool json = false;
};

std::vector<std::string> group_row(const queue::DeadGroup& group, const std::string& queue) {
  const std::string& fault = group.newest.fault;
  const std::string why = group.newest.cause + (fault.empty() ? "" : ": " + fault);
  return {group.newest.group,
          queue,
          printable(group.newest.type, kMaxTypeName),
          std::to_string(group.tasks.value) + (group.tasks.at_least ? "+" : ""),
          group.newest.died_at,
          group.newest.id.text(),
          printable(why, kShownError)};
}

std::vector<queue::TaskId> chosen_by_id(db::Connection& db, const DeadChoice& choice) {
  std::vector<queue::TaskId> ids = named_ids(choice);
  for (const queue::TaskId& id : ids) {
    const auto task = queue::show(db, id);
    if (!task) refuse_alive(id, "");
    if (!task->dead) refuse_alive(id, as_json::state_of(*task));
  }
  return ids;
}

// Dead tasks of one queue.
struct Counted {
  queue::QueueInfo queue;
  CountedDead dead;
};

// A group belongs to a single queue, which need not be named.
Counted count_chosen(db::Connection& db, queue::BulkKind kind, const DeadChoice& choice) {
  const queue::BulkFilter filter{choice.group, choice.type};
  bool more = false;
  for (const queue::QueueInfo& queue : chosen_queues(db, choice.queue)) {
    auto count = queue::count_bulk(db, kind, queue, filter, queue::kCountBound);
    // A queue with more dead tasks than are counted may contain tasks of this group.
    const bool taken = choice.all || count.tasks > 0 || (!choice.queue.empty() && count.more);
    if (taken) return {queue, {queue.name, filter, std::move(count)}};
    more = more || count.more;
  }
  refuse_group(choice, more);
}

// Calls `act` with one batch of ids after another, at most `rate` tasks per second.
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

// Named tasks are processed immediately and in this process.
template <typename Act>
int act_on_named(const Context& context, const DeadChoice& choice, const std::string& past,
                 Act&& act) {
  const config::Settings settings = context.settings();
  db::Connection db = connect_as_operator(context, settings);
  const auto ids = chosen_by_id(db, choice);
  Progress progress(ids.size());
  const std::uint64_t done = in_batches(
      ids, choice.rate, progress,
      [&](std::span<const queue::TaskId> some) { return act(settings, db, some, progress); });
  progress.wipe();
  report_named(choice, past, ids.size(), done);
  return kExitOk;
}

// Counts the tasks first. Then a bulk action, which continues without this process, does the work.
int act_on_many(const Context& context, const DeadChoice& choice, queue::BulkKind kind,
                const std::string& verb, const std::string& past) {
  const config::Settings settings = context.settings();
  db::Connection db = connect_as_operator(context, settings);
  const Counted counted = count_chosen(db, kind, choice);
  std::optional<queue::BulkAction> action;
  if (counted.dead.any()) {
    confirm(verb, counted.dead.text(), choice.yes);
    const std::uint64_t action_id = queue::begin_bulk(
        db, counted.queue,
        {kind, counted.dead.filter, counted.dead.count.token, choice.rate, asked_by()});
    ring_local_steward(settings);
    action =
        choice.no_wait ? queue::find_bulk(db, action_id) : follow_bulk(settings, db, action_id);
    if (action && !choice.no_wait) require_done(*action);
  }
  report_many(choice, past, counted.dead, action);
  return kExitOk;
}

// allot dead list shows the newest dead tasks, at most `limit` of each queue.
int list_dead(const Context& context, const DeadListOptions& options) {
  db::Connection db = connect(context.settings());
  Listing list(task_heads("DIED", "WHY"), options.json);
  for (const queue::QueueInfo& queue : chosen_queues(db, options.queue)) {
    const auto views = queue::list_dead(db, queue, options.limit, {}, options.group);
    for (const queue::TaskView& task : views) {
      list.add(as_json::task(task, queue.name), view_row(task, queue.name));
    }
    say_limit(queue.name, views.size(), options.limit, options.json);
  }
  list.print();
  return kExitOk;
}

int remote_list_dead(const remote::Session& gateway, const DeadListOptions& options) {
  Listing list(task_heads("DIED", "WHY"), options.json);
  for (const std::string& queue : far::queue_names(gateway, options.queue)) {
    const std::string of_group =
        options.group.empty() ? "" : "?group=" + remote::escaped(options.group);
    const auto page =
        far::items(gateway, far::queue_path(queue, "/dead" + of_group), options.limit);
    for (const json& task : page) list.add(task, view_row(as_json::task_of(task), queue));
    say_limit(queue, page.size(), options.limit, options.json);
  }
  list.print();
  return kExitOk;
}

Listing group_list(bool as_json) {
  return {{"GROUP", "QUEUE", "TYPE", "TASKS", "NEWEST", "NEWEST TASK", "WHY"}, as_json};
}

// allot dead groups counts the dead tasks by type, cause and fault, and shows the `limit` largest
// groups of each queue.
int dead_groups(const Context& context, const DeadListOptions& options) {
  db::Connection db = connect(context.settings());
  Listing list = group_list(options.json);
  for (const queue::QueueInfo& queue : chosen_queues(db, options.queue)) {
    queue::DeadGroups groups = queue::dead_groups(db, queue, queue::kCountBound);
    groups.list.resize(std::min<std::size_t>(groups.list.size(), options.limit));
    for (const queue::DeadGroup& group : groups.list) {
      list.add(as_json::dead_group(group, queue.name), group_row(group, queue.name));
    }
    say_limit(queue.name, groups.list.size(), options.limit, options.json);
  }
  list.print();
  return kExitOk;
}

int remote_dead_groups(const remote::Session& gateway, const DeadListOptions& options) {
  Listing list = group_list(options.json);
  for (const std::string& queue : far::queue_names(gateway, options.queue)) {
    const auto page = far::items(gateway, far::queue_path(queue, "/dead/groups"), options.limit);
    for (const json& group : page) {
      list.add(group, group_row(as_json::dead_group_of(group), queue));
    }
    say_limit(queue, page.size(), options.limit, options.json);
  }
  list.print();
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
                        for (const auto& [from, to] : moved) say_moved(from, to);
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

std::shared_ptr<DeadListOptions> add_list(CLI::App& list, const Commands& commands,
                                          int (*run)(const Context&, const DeadListOptions&),
                                          int (*far)(const remote::Session&,
                                                     const DeadListOptions&)) {
  auto options = std::make_shared<DeadListOptions>();
  list.add_option("QUEUE", options->queue, "Only of this queue");
  list.add_option("--limit", options->limit, "Limit for each queue")
      ->check(CLI::Range(1, kMostListed))
      ->type_name("ROWS")
      ->capture_default_str();
  list.add_flag("--json", options->json, "As JSON");
  list.callback([commands, run, far, options] { commands.choose(run, options, far); });
  return options;
}

void add_act(CLI::App& act, const Commands& commands, int (*run)(const Context&, const DeadChoice&),
             int (*far)(const remote::Session&, const DeadChoice&)) {
  const auto choice = std::make_shared<DeadChoice>();
  auto* ids = act.add_option("ID", choice->ids, "Ids of dead tasks");
  auto* group = act.add_option("--group", choice->group, "A group, as allot dead groups shows it");
  auto* queue = act.add_option("--queue", choice->queue, "Queue of the group, or with --all");
  auto* all = act.add_flag("--all", choice->all, "All dead tasks of --queue");
  group->type_name("GROUP")->excludes(ids);
  queue->type_name("QUEUE")->excludes(ids);
  all->needs(queue)->excludes(ids)->excludes(group);
  act.add_option("--type", choice->type, "Only tasks of this type")
      ->type_name("TYPE")
      ->excludes(ids);
  act.add_flag("--no-wait", choice->no_wait,
               "Start the bulk action without waiting for it; see allot bulk")
      ->excludes(ids);
  act.add_option("--rate", choice->rate, "Limit of tasks per second")
      ->check(CLI::Range(1, kMostRate))
      ->type_name("TASKS");
  commands.add_reason(act);
  act.add_flag("--yes", choice->yes, "Do not ask; required without a terminal");
  act.add_flag("--json", choice->json, "Print the numbers of chosen and processed tasks as JSON");
  act.callback([commands, run, far, choice] {
    if (choice->ids.empty() && choice->group.empty() && !choice->all) {
      throw CLI::RequiredError("ID, --group, or --queue with --all");
    }
    commands.choose(run, choice, far);
  });
}

}  // namespace

std::string CountedDead::text() const {
  return dead_tasks_text(count.tasks, count.more) + " of queue " + queue +
         (filter.group.empty() ? "" : ", group " + filter.group) +
         (filter.type.empty() ? "" : ", type " + printable(filter.type, kMaxTypeName));
}

std::vector<queue::TaskId> named_ids(const DeadChoice& choice) {
  std::vector<queue::TaskId> ids;
  for (const std::string& word : choice.ids) ids.push_back(parse_task_id(word));
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

void refuse_alive(const queue::TaskId& id, const std::string& state) {
  throw Error(
      "no dead task has the id " + id.text() +
      (state.empty() ? ": it finished, was discarded, or never existed" : ": it is " + state));
}

void refuse_group(const DeadChoice& choice, bool more) {
  throw Error("no dead task is in a group '" + printable(choice.group, 40) + "'" +
              (more ? " among the examined tasks; name its --queue" : "; see allot dead groups"));
}

void say_moved(const queue::TaskId& from, const queue::TaskId& to) {
  std::fprintf(stderr, "%s is %s now: its queue was resized\n", from.text().c_str(),
               to.text().c_str());
}

void report_named(const DeadChoice& choice, const std::string& past, std::size_t chosen,
                  std::uint64_t done) {
  if (choice.json) {
    print(json{{"chosen", chosen}, {past, done}});
  } else {
    std::printf("%s %s\n", past.c_str(), dead_tasks_text(done).c_str());
  }
}

void report_many(const DeadChoice& choice, const std::string& past, const CountedDead& counted,
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

void add_dead(CLI::App& app, const Commands& commands) {
  CLI::App& dead = *app.add_subcommand("dead", "List, retry or discard dead tasks");
  dead.require_subcommand(1);
  CLI::App& list = *dead.add_subcommand("list", "List dead tasks, the newest first");
  const auto listed = add_list(list, commands, list_dead, remote_list_dead);
  list.add_option("--group", listed->group, "Only of this group, as allot dead groups shows it")
      ->type_name("GROUP");
  add_list(*dead.add_subcommand("groups", "Count dead tasks by type, cause and fault"), commands,
           dead_groups, remote_dead_groups);
  add_act(*dead.add_subcommand(
              "retry", "Put dead tasks back into their queue, with all attempts available again"),
          commands, retry_dead, remote_retry_dead);
  add_act(*dead.add_subcommand("discard", "Remove dead tasks permanently"), commands, discard_dead,
          remote_discard_dead);
}

}  // namespace allot::cli
