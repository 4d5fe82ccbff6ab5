// SPDX-License-Identifier: Apache-2.0
#include "cli/tasks.h"

#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "cli/queues.h"
#include "cli/terminal.h"
#include "cli/text.h"
#include "queue/inspect.h"
#include "queue/task_store.h"

namespace allot::cli {
namespace {

using nlohmann::json;

constexpr std::size_t kShownPayload = 4096;     // bytes, in JSON
constexpr std::size_t kShownPayloadLine = 200;  // on a terminal
constexpr std::size_t kShownError = 300;

void print(const json& value) {
  std::printf("%s\n", value.dump(2, ' ', false, json::error_handler_t::replace).c_str());
}

using Measured = std::optional<std::uint64_t>;

std::string decimal(std::uint64_t value, std::uint64_t unit, int digits, const char* name) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f %s", digits,
                static_cast<double>(value) / static_cast<double>(unit), name);
  return text.data();
}
std::string seconds(const Measured& us) {
  return us ? decimal(*us, 1'000'000, 3, "s") : "-";
}
std::string megabytes(const Measured& kib) {
  return kib ? decimal(*kib, 1024, 0, "MiB") : "-";
}
json json_or_null(const Measured& value) {
  return value ? json(*value) : json(nullptr);
}

const char* state_of(const queue::TaskView& task) {
  if (task.dead) return "dead";
  return task.running ? "running" : "waiting";
}

json view_json(const queue::TaskView& task, const std::string& queue) {
  json view = {{"task", task.id.text()},
               {"queue", queue},
               {"type", task.type},
               {"prio", task.id.prio},
               {"partition", task.id.partition.partition_no},
               {"attempts_charged", task.attempts},
               {"payload_size", task.payload_size},
               {"state", state_of(task)},
               {task.dead ? "died_at" : "due_at", task.at}};
  if (task.dead) {
    view["cause"] = task.cause;
    view["error"] = task.error;
  }
  if (task.running) view["running_on"] = task.holder;
  return view;
}

std::vector<queue::QueueInfo> chosen_queues(db::Connection& db, const std::string& name) {
  auto all = queue::list_queues(db);
  if (name.empty()) return all;
  std::vector<std::string> names;
  for (const auto& info : all) {
    if (info.name == name) return {info};
    names.push_back(info.name);
  }
  unknown_queue(name, std::move(names));
}

std::string queue_name(db::Connection& db, std::uint32_t queue_id) {
  for (const auto& info : queue::list_queues(db)) {
    if (info.queue_id == queue_id) return info.name;
  }
  return {};
}

std::string why(const queue::TaskView& task, std::size_t most) {
  return printable(task.error.empty() ? task.cause : task.cause + ": " + task.error, most);
}

// The last column of a list.
std::string remark(const queue::TaskView& task) {
  if (task.dead) return why(task, kShownError);
  return task.running ? "running on " + printable(task.holder, 100) : "";
}

void print_shown(const queue::TaskView& task, const std::string& queue,
                 const std::vector<queue::AttemptView>& attempts) {
  const auto line = [](const char* name, const std::string& value) {
    std::printf("%-10s %s\n", name, value.c_str());
  };
  line("task", task.id.text());
  line("state", state_of(task));
  line("queue", queue + ", partition " + std::to_string(task.id.partition.partition_no) +
                    ", prio " + std::to_string(task.id.prio));
  line("type", printable(task.type, queue::kMaxName));
  line(task.dead ? "died" : "due", task.at);
  if (task.dead) line("why", why(task, kShownError));
  line("attempts", std::to_string(task.attempts));
  const std::string holder = task.holder.empty() ? "nobody" : printable(task.holder, 100);
  if (task.running) line("running on", holder);
  if (!task.dead && !task.running) line("leased by", holder);
  line("payload",
       std::to_string(task.payload_size) + " bytes" +
           (task.payload.empty() ? "" : ": " + printable(task.payload, kShownPayloadLine)));
  if (attempts.empty()) return;
  Table table({"ATTEMPT", "ENDED", "RAN", "CPU", "MEMORY", "WORKER", "WHY"});
  for (const queue::AttemptView& attempt : attempts) {
    const std::string cause =
        attempt.error.empty() ? attempt.cause : attempt.cause + ": " + attempt.error;
    table.add({std::to_string(attempt.attempt), attempt.ended_at, seconds(attempt.usage.runtime_us),
               seconds(attempt.usage.cpu_us), megabytes(attempt.usage.max_rss_kib),
               printable(attempt.worker, 100), printable(cause, kShownError)});
  }
  std::printf("\n%s", table.text(wants_colour(STDOUT_FILENO)).c_str());
}

// Careful mode writes an attempt as lost before it runs (S7): while its worker has the lease, it
// runs.
void mark_running(const queue::TaskView& task, std::vector<queue::AttemptView>& attempts) {
  if (attempts.empty() || task.holder != attempts.back().worker) return;
  queue::AttemptView& last = attempts.back();
  if (last.cause != queue::kLost.cause) return;
  last.cause = "running";
  last.error = "or lost, when its worker is no longer there";
}

json shown_json(const queue::TaskView& task, const std::string& queue,
                const std::vector<queue::AttemptView>& attempts) {
  json view = view_json(task, queue);
  view["payload"] = task.payload.substr(0, kShownPayload);
  view["payload_cut"] = task.payload.size() > kShownPayload;
  view["leased_by"] = task.holder.empty() || task.running ? json(nullptr) : json(task.holder);
  view["attempts"] = json::array();
  for (const queue::AttemptView& attempt : attempts) {
    view["attempts"].push_back({{"attempt", attempt.attempt},
                                {"ended_at", attempt.ended_at},
                                {"cause", attempt.cause},
                                {"error", attempt.error},
                                {"worker", attempt.worker},
                                {"runtime_us", json_or_null(attempt.usage.runtime_us)},
                                {"cpu_us", json_or_null(attempt.usage.cpu_us)},
                                {"max_rss_kib", json_or_null(attempt.usage.max_rss_kib)}});
  }
  return view;
}

// What runs outside of its partition comes first: it began before what waits.
std::vector<queue::TaskView> views_of(db::Connection& db, const queue::QueueInfo& queue,
                                      const TasksOptions& options) {
  if (options.dead) return queue::list_dead(db, queue, options.limit);
  auto views = queue::list_running(db, queue, options.limit);
  const auto left = options.limit - static_cast<std::uint32_t>(views.size());
  for (queue::TaskView& task : queue::list_tasks(db, queue, left)) views.push_back(std::move(task));
  return views;
}

}  // namespace

int tasks(const Context& context, const TasksOptions& options) {
  db::Connection db = connect(context.settings());
  json list = json::array();
  Table table({"TASK", "QUEUE", "TYPE", "PRIO", "ATTEMPTS", "BYTES", options.dead ? "DIED" : "DUE",
               options.dead ? "WHY" : ""});
  for (const queue::QueueInfo& queue : chosen_queues(db, options.queue)) {
    const auto views = views_of(db, queue, options);
    for (const queue::TaskView& task : views) {
      if (options.json) {
        list.push_back(view_json(task, queue.name));
      } else {
        table.add({task.id.text(), queue.name, printable(task.type, queue::kMaxName),
                   std::to_string(task.id.prio), std::to_string(task.attempts),
                   std::to_string(task.payload_size), task.at, remark(task)});
      }
    }
    if (!options.json && views.size() == options.limit) {
      std::fprintf(stderr, "queue %s: at most %u are shown, see --limit\n", queue.name.c_str(),
                   options.limit);
    }
  }
  if (options.json) {
    print(list);
  } else {
    std::printf("%s", table.text(wants_colour(STDOUT_FILENO)).c_str());
  }
  return kExitOk;
}

int show_task(const Context& context, const ShowOptions& options) {
  const auto id = queue::TaskId::parse(options.id);
  if (!id) throw Error("'" + printable(options.id, 40) + "' is no task id", kExitUsage);
  db::Connection db = connect(context.settings());
  const auto task = queue::show(db, *id);
  if (!task) {
    throw Error("no live or dead task has the id " + id->text() +
                ": it finished, or never existed");
  }
  if (options.payload) {
    std::fwrite(task->payload.data(), 1, task->payload.size(), stdout);
    return kExitOk;
  }
  const std::string queue = queue_name(db, id->partition.queue_id);
  auto attempts = queue::list_attempts(db, *id);
  mark_running(*task, attempts);
  if (options.json) {
    print(shown_json(*task, queue, attempts));
  } else {
    print_shown(*task, queue, attempts);
  }
  return kExitOk;
}

}  // namespace allot::cli
