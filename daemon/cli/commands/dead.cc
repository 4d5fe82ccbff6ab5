// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "base/names.h"
#include "cli/commands/bulk_action.h"
#include "cli/commands/command.h"
#include "cli/sources/documents.h"
#include "cli/words/task_view.h"
#include "cli/words/terminal.h"
#include "cli/words/text.h"

namespace allot::cli {
namespace {

using nlohmann::json;

struct DeadListOptions {
  std::string queue;  // empty: all
  std::string group;  // of the listed tasks; empty: any
  std::uint32_t limit = 50;
  bool json = false;
};

// Choice of dead tasks: by ids, by a group, or all of a queue. The command line ensures that
// exactly one of the three is given.
struct DeadChoice {
  std::vector<std::string> ids;
  std::string group;
  std::string queue;  // of the group (empty: any), or of `all`
  std::string type;   // of the group or of `all`; empty: any
  bool all = false;
  std::uint32_t rate = 0;  // maximum in tasks per second; 0: no limit
  bool yes = false;        // do not ask before acting on more than named tasks
  bool no_wait = false;
  bool json = false;
};

// "retry", and its past participle.
struct DeadVerb {
  std::string word;
  std::string past;
};

// The items of a list of each chosen queue, at most `limit` of each.
std::vector<json> items_of(const Operations& allot, const DeadListOptions& options,
                           const std::string& list) {
  std::vector<json> found;
  for (const std::string& queue : documents::queue_names(allot, options.queue)) {
    const std::string path = documents::queue_path(queue, list);
    const auto items =
        documents::items(allot, documents::with(path, "group", options.group), options.limit);
    found.insert(found.end(), items.begin(), items.end());
    say_limit(queue, items.size(), options.limit, options.json);
  }
  return found;
}

// allot dead list shows the newest dead tasks.
int list_dead(const Operations& allot, const DeadListOptions& options) {
  return print_list(items_of(allot, options, "/dead"), options.json, task_columns("DIED", "WHY"));
}

std::string why_of(const json& group) {
  const std::string fault = cell_of(group, "fault");
  return cell_of(group, "cause") + (fault.empty() ? "" : ": " + fault);
}

std::string number_of(const json& group) {
  return group.at("tasks").dump() + (group.at("tasks_at_least").get<bool>() ? "+" : "");
}

// allot dead groups counts the dead tasks by type, cause and fault, and shows the largest groups.
int dead_groups(const Operations& allot, const DeadListOptions& options) {
  return print_list(items_of(allot, options, "/dead/groups"), options.json,
                    {{"GROUP", "group"},
                     {"QUEUE", "queue"},
                     {"TYPE", "type"},
                     {"TASKS", number_of},
                     {"NEWEST", "newest_died_at"},
                     {"NEWEST TASK", "newest_task"},
                     {"WHY", why_of}});
}

// The ids in their order, without duplicates. Throws as parse_task_id() does.
std::vector<queue::TaskId> named_ids(const DeadChoice& choice) {
  std::vector<queue::TaskId> ids;
  for (const std::string& word : choice.ids) ids.push_back(parse_task_id(word));
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

std::string path_of(const queue::TaskId& id) {
  return "/tasks/" + id.text();
}

void require_dead(const Operations& allot, const queue::TaskId& id) {
  std::string state = "done";
  try {
    state = allot.read(path_of(id)).at("state").get<std::string>();
  } catch (const operations::Refusal& refused) {
    if (refused.problem().status != 404) throw;
  }
  if (state == "dead") return;
  throw Error(
      "no dead task has the id " + id.text() +
      (state == "done" ? ": it finished, was discarded, or never existed" : ": it is " + state));
}

// False: another client acted first.
bool act_on(const Operations& allot, const queue::TaskId& id, const DeadVerb& verb,
            Progress& progress) {
  try {
    const json made = allot.post(path_of(id) + "/" + verb.word, json::object());
    const std::string now = made.at("task");
    if (now == id.text()) return true;
    progress.wipe();
    std::fprintf(stderr, "%s is %s now: its queue was resized\n", id.text().c_str(), now.c_str());
    return true;
  } catch (const operations::Refusal& refused) {
    if (refused.problem().status == 404 || refused.problem().status == 409) return false;
    throw;
  }
}

// One request for each task, at most at the given rate.
int act_on_named(const Operations& allot, const DeadChoice& choice, const DeadVerb& verb) {
  const std::vector<queue::TaskId> ids = named_ids(choice);
  for (const queue::TaskId& id : ids) require_dead(allot, id);
  Progress progress(ids.size());
  auto next = std::chrono::steady_clock::now();
  std::uint64_t examined = 0;
  std::uint64_t done = 0;
  for (const queue::TaskId& id : ids) {
    std::this_thread::sleep_until(next);
    try {
      if (act_on(allot, id, verb, progress)) ++done;
    } catch (const Error& error) {
      throw Error(id.text() + ": " + error.what() + "; " + verb.past + " " + dead_tasks_text(done) +
                      " before",
                  error.exit_code());
    }
    progress.show(++examined, done);
    if (choice.rate > 0) next += std::chrono::nanoseconds(1'000'000'000 / choice.rate);
  }
  progress.wipe();
  return print_as(choice.json, json{{"tasks", ids.size()}, {verb.past, done}}, [&] {
    std::printf("%s %s\n", verb.past.c_str(), dead_tasks_text(done).c_str());
  });
}

json filter_of(const DeadChoice& choice) {
  json filter = json::object();
  if (!choice.group.empty()) filter["group"] = choice.group;
  if (!choice.type.empty()) filter["type"] = choice.type;
  return filter;
}

// A count of the chosen tasks. A group belongs to a single queue, which need not be named.
json count_chosen(const Operations& allot, const DeadChoice& choice, const DeadVerb& verb) {
  bool more = false;
  for (const std::string& queue : documents::queue_names(allot, choice.queue)) {
    Request request{"POST", documents::queue_path(queue, "/dead/" + verb.word),
                    body_of(filter_of(choice))};
    request.only_counts = true;
    json count = allot.send(request);
    const bool is_part = count.at("tasks_at_least").get<bool>();
    // A queue with more dead tasks than are counted may contain tasks of this group.
    const bool taken = choice.all || count.at("tasks") > 0 || (!choice.queue.empty() && is_part);
    if (taken) return count;
    more = more || is_part;
  }
  throw Error("no dead task is in a group '" + printable(choice.group, 40) + "'" +
              (more ? " among the examined tasks; name its --queue" : "; see allot dead groups"));
}

std::string counted_text(const DeadChoice& choice, const json& count) {
  return dead_tasks_text(count.at("tasks"), count.at("tasks_at_least")) + " of queue " +
         count.at("queue").get<std::string>() +
         (choice.group.empty() ? "" : ", group " + choice.group) +
         (choice.type.empty() ? "" : ", type " + printable(choice.type, kMaxTypeName));
}

// `action` is null if none was begun.
void report_many(const DeadChoice& choice, const DeadVerb& verb, const json& count,
                 const json& action) {
  const std::uint64_t done = action.is_null() ? 0 : action.at("done").get<std::uint64_t>();
  const json number = action.is_null() ? json() : action.at("action");
  if (choice.json) {
    print(json{{"action", number},
               {"tasks", count.at("tasks")},
               {"tasks_at_least", count.at("tasks_at_least")},
               {"state", action.is_null() ? json() : action.at("state")},
               {verb.past, done}});
  } else if (choice.no_wait && !action.is_null()) {
    std::printf("bulk action %s: allot bulk show %s\n", number.dump().c_str(),
                number.dump().c_str());
  } else {
    std::printf("%s %s\n", verb.past.c_str(), dead_tasks_text(done).c_str());
  }
}

// Counts the tasks first. Then a bulk action with that count, which continues without this process,
// does the work.
int act_on_many(const Operations& allot, const DeadChoice& choice, const DeadVerb& verb) {
  const json count = count_chosen(allot, choice, verb);
  json action;
  if (count.at("tasks") > 0 || count.at("tasks_at_least").get<bool>()) {
    confirm(verb.word, counted_text(choice, count), choice.yes);
    json wanted = filter_of(choice);
    wanted["token"] = count.at("token");
    if (choice.rate > 0) wanted["rate"] = choice.rate;
    action = allot.post(documents::queue_path(count.at("queue"), "/dead/" + verb.word), wanted);
    if (!choice.no_wait) {
      action = follow_bulk(allot, action.at("action"));
      require_done(action);
    }
  }
  report_many(choice, verb, count, action);
  return kExitOk;
}

// allot dead retry, allot dead discard.
int act(const Operations& allot, const DeadChoice& choice, const DeadVerb& verb) {
  return choice.ids.empty() ? act_on_many(allot, choice, verb) : act_on_named(allot, choice, verb);
}

int retry_dead(const Operations& allot, const DeadChoice& choice) {
  return act(allot, choice, {"retry", "retried"});
}

int discard_dead(const Operations& allot, const DeadChoice& choice) {
  return act(allot, choice, {"discard", "discarded"});
}

void add_list(const Added<DeadListOptions>& list) {
  list.command.add_option("QUEUE", list.options->queue, "Only tasks of this queue");
  add_limit(list.command, list.options->limit, "Maximum number for each queue");
}

void add_act(CLI::App& dead, const Commands& commands, const char* name, const char* text,
             int (*run)(const Operations&, const DeadChoice&)) {
  const auto added = commands.add(dead, name, text, run);
  CLI::App& act = added.command;
  const auto& choice = added.options;
  auto* ids = act.add_option("ID", choice->ids, "Ids of dead tasks");
  auto* group =
      &add_text(act, "--group", "GROUP", choice->group, "A group, as allot dead groups shows it");
  auto* queue =
      &add_text(act, "--queue", "QUEUE", choice->queue, "Queue of the group, or with --all");
  auto* all = act.add_flag("--all", choice->all, "All dead tasks of --queue");
  group->excludes(ids);
  queue->excludes(ids);
  all->needs(queue)->excludes(ids)->excludes(group);
  add_text(act, "--type", "TYPE", choice->type, "Only tasks of this type").excludes(ids);
  act.add_flag("--no-wait", choice->no_wait,
               "Start the bulk action without waiting for it; see allot bulk")
      ->excludes(ids);
  add_rate(act, choice->rate);
  commands.add_reason(act);
  add_yes(act, choice->yes);
  act.get_option("--json")->description("Print the numbers of chosen and processed tasks as JSON");
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
  const auto list = commands.add(dead, "list", "List dead tasks, newest first", list_dead);
  add_list(list);
  add_text(list.command, "--group", "GROUP", list.options->group,
           "Only tasks of this group, as allot dead groups shows it");
  add_list(commands.add(dead, "groups", "Count dead tasks by type, cause and fault", dead_groups));
  add_act(dead, commands, "retry",
          "Put dead tasks back into their queue, with all attempts available again", retry_dead);
  add_act(dead, commands, "discard", "Remove dead tasks permanently", discard_dead);
}

}  // namespace allot::cli
