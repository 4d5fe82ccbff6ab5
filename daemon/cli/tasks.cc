// SPDX-License-Identifier: Apache-2.0
#include "cli/tasks.h"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "queue/inspect.h"

namespace allot::cli {
namespace {

using nlohmann::json;

constexpr std::size_t kShownPayload = 4096;

void print(const json& value) {
  std::printf("%s\n", value.dump(2, ' ', false, json::error_handler_t::replace).c_str());
}

json view_json(const queue::TaskView& task) {
  json view = {{"task", task.id.text()},
               {"type", task.type},
               {"prio", task.id.prio},
               {"partition", task.id.partition.partition_no},
               {"attempts_charged", task.attempts},
               {"payload_size", task.payload_size},
               {"state", task.dead ? "dead" : "waiting"},
               {task.dead ? "died_at" : "due_at", task.at}};
  if (task.dead) {
    view["cause"] = task.cause;
    view["error"] = task.error;
  }
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
  throw Error("queue '" + printable(name, 63) + "' does not exist" + did_you_mean(name, names),
              kExitBadInput);
}

}  // namespace

int tasks(const Context& context, const TasksOptions& options) {
  db::Connection db = Context::connect(context.settings());
  json list = json::array();
  if (!options.json) {
    std::printf("%-20s %-16s %-20s %8s %9s  %-27s %s\n", "TASK", "QUEUE", "TYPE", "ATTEMPTS",
                "BYTES", options.dead ? "DIED" : "DUE", options.dead ? "WHY" : "");
  }
  for (const queue::QueueInfo& queue : chosen_queues(db, options.queue)) {
    const auto views = options.dead ? queue::list_dead(db, queue, options.limit)
                                    : queue::list_tasks(db, queue, options.limit);
    for (const queue::TaskView& task : views) {
      if (options.json) {
        list.push_back(view_json(task));
        list.back()["queue"] = queue.name;
        continue;
      }
      std::printf("%-20s %-16s %-20s %8u %9llu  %-27s %s\n", task.id.text().c_str(),
                  queue.name.c_str(), task.type.c_str(), task.attempts,
                  static_cast<unsigned long long>(task.payload_size), task.at.c_str(),
                  task.dead ? printable(task.cause + ": " + task.error, 100).c_str() : "");
    }
  }
  if (options.json) print(list);
  return kExitOk;
}

int show_task(const Context& context, const std::string& word, bool as_json, bool payload) {
  const auto id = queue::TaskId::parse(word);
  if (!id) throw Error("'" + printable(word, 40) + "' is no task id", kExitUsage);
  db::Connection db = Context::connect(context.settings());
  const auto task = queue::show(db, *id);
  if (!task) {
    throw Error("no live or dead task has the id " + word + ": it finished, or never existed");
  }
  if (payload) {
    std::fwrite(task->payload.data(), 1, task->payload.size(), stdout);
    return kExitOk;
  }
  const auto attempts = queue::list_attempts(db, *id);
  if (as_json) {
    json view = view_json(*task);
    view["payload"] = task->payload.substr(0, kShownPayload);
    view["leased_by"] = task->holder.empty() ? json(nullptr) : json(task->holder);
    view["attempts"] = json::array();
    for (const auto& attempt : attempts) {
      view["attempts"].push_back({{"attempt", attempt.attempt},
                                  {"ended_at", attempt.ended_at},
                                  {"cause", attempt.cause},
                                  {"error", attempt.error},
                                  {"worker", attempt.worker}});
    }
    print(view);
    return kExitOk;
  }
  std::printf("task       %s\ntype       %s\nstate      %s\n%-10s %s\npartition  %u, prio %u\n",
              word.c_str(), task->type.c_str(), task->dead ? "dead" : "waiting",
              task->dead ? "died" : "due", task->at.c_str(), id->partition.partition_no, id->prio);
  if (!task->holder.empty()) std::printf("leased by  %s\n", task->holder.c_str());
  if (task->dead) {
    std::printf("why        %s: %s\n", task->cause.c_str(), printable(task->error, 500).c_str());
  }
  std::printf("payload    %llu bytes: %s\n", static_cast<unsigned long long>(task->payload_size),
              printable(task->payload.substr(0, 300), 200).c_str());
  for (const auto& attempt : attempts) {
    std::printf("attempt %-2u %s on %s: %s: %s\n", attempt.attempt, attempt.ended_at.c_str(),
                attempt.worker.c_str(), attempt.cause.c_str(),
                printable(attempt.error, 300).c_str());
  }
  return kExitOk;
}

}  // namespace allot::cli
