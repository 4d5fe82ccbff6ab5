// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands/command.h"
#include "cli/sources/documents.h"
#include "cli/words/task_view.h"
#include "cli/words/text.h"

namespace allot::cli {
namespace {

using nlohmann::json;

struct TasksOptions {
  std::string queue;         // empty: all
  std::uint32_t limit = 50;  // per queue
  bool json = false;
};

struct HistoryOptions {
  std::string queue;  // empty: all
  std::string type;   // empty: all
  std::string after;  // id of a task: start of the next page
  std::uint32_t limit = 50;
  bool json = false;
};

// A filter by type has no index. Maximum number of tasks that are scanned; the list says where it
// stopped.
constexpr std::uint32_t kMostExamined = 10'000;

struct Found {
  std::vector<json> tasks{};
  std::string stopped_at{};  // the last scanned task; empty: all were scanned, or enough were found
};

Found look_up(const Operations& allot, const std::string& queue, const HistoryOptions& options) {
  std::string path = documents::queue_path(queue, "/history");
  if (!options.after.empty()) path += "?after=" + parse_task_id(options.after).text();
  if (options.type.empty()) return {documents::items(allot, path, options.limit), {}};
  Found found;
  std::string cursor;
  for (std::uint32_t examined = 0; examined < kMostExamined;) {
    documents::Page page = documents::page(allot, path, cursor, kMostExamined);
    for (json& done : page.items) {
      found.stopped_at = done.at("task");
      if (done.at("type") == options.type) found.tasks.push_back(std::move(done));
      if (found.tasks.size() == options.limit) return {std::move(found.tasks), {}};
    }
    if (page.next.empty()) return {std::move(found.tasks), {}};
    examined += static_cast<std::uint32_t>(page.items.size());
    cursor = std::move(page.next);
  }
  return found;
}

void say_stop(const std::string& queue, const Found& found) {
  if (found.stopped_at.empty()) return;
  std::fprintf(stderr,
               "allot: queue %s: stopped after %u finished tasks; continue with --after %s\n",
               queue.c_str(), kMostExamined, found.stopped_at.c_str());
}

// The chosen queues; with --after, the queue of that task if it is one of them.
std::vector<std::string> queues_of(const Operations& allot, const HistoryOptions& options) {
  std::vector<std::string> queues = documents::queue_names(allot, options.queue);
  if (options.after.empty()) return queues;
  const json after = allot.read(task_path(options.after));
  std::erase_if(queues, [&](const std::string& queue) { return after.at("queue") != queue; });
  return queues;
}

// allot history shows finished tasks of queues that keep a history, newest first.
int history(const Operations& allot, const HistoryOptions& options) {
  std::vector<json> tasks;
  for (const std::string& queue : queues_of(allot, options)) {
    const Found found = look_up(allot, queue, options);
    tasks.insert(tasks.end(), found.tasks.begin(), found.tasks.end());
    say_limit(queue, found.tasks.size(), options.limit, options.json);
    say_stop(queue, found);
  }
  std::vector<Column> columns{{"TASK", "task"},
                              {"QUEUE", "queue"},
                              {"TYPE", "type"},
                              {"ATTEMPTS", "attempt"},
                              {"ENDED", "ended_at"}};
  add_usage(columns);
  return print_list(tasks, options.json, columns);
}

// allot tasks shows the detached tasks of each queue, then the waiting ones by partition, class and
// key. Detached tasks come first, because they started before the waiting ones. Dead tasks are
// listed by dead.cc.
int tasks(const Operations& allot, const TasksOptions& options) {
  json list = json::array();
  for (const std::string& queue : documents::queue_names(allot, options.queue)) {
    std::uint32_t shown = 0;
    for (const char* each : {"/running", "/tasks"}) {
      const std::string path = documents::queue_path(queue, each);
      for (const json& task : documents::items(allot, path, options.limit - shown)) {
        list.push_back(task);
        ++shown;
      }
    }
    say_limit(queue, shown, options.limit, options.json);
  }
  return print_list(list, options.json, task_columns("DUE", ""));
}

}  // namespace

void add_tasks(CLI::App& app, const Commands& commands) {
  const auto [list, options] = commands.add(app, "tasks", "List waiting and detached tasks", tasks);
  add_text(list, "--queue", "QUEUE", options->queue, "Only tasks of this queue");
  add_limit(list, options->limit, "Maximum number for each queue").type_name("TASKS");
}

void add_history(CLI::App& app, const Commands& commands) {
  const auto [list, options] =
      commands.add(app, "history", "List finished tasks of queues that keep a history", history);
  add_text(list, "--queue", "QUEUE", options->queue, "Only tasks of this queue");
  add_text(list, "--type", "TYPE", options->type, "Only tasks of this type");
  add_text(list, "--after", "ID", options->after, "Next page: tasks that ended before this one");
  add_limit(list, options->limit, "Maximum number for each queue").type_name("TASKS");
}

}  // namespace allot::cli
