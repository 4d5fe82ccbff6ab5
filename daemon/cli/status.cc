// SPDX-License-Identifier: Apache-2.0
#include "cli/status.h"

#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/instance_view.h"
#include "queue/inspect.h"

namespace allot::cli {
namespace {

using nlohmann::json;

struct QueueView {
  queue::QueueInfo info;
  queue::BoundedCount waiting;
  queue::BoundedCount dead;
};

std::vector<QueueView> read_queues(const config::Settings& settings) {
  db::Connection db = Context::connect(settings);
  std::vector<QueueView> views;
  for (queue::QueueInfo& info : queue::list_queues(db)) {
    const auto waiting = queue::count_waiting(db, info);
    const auto dead = queue::count_dead(db, info);
    views.push_back({std::move(info), waiting, dead});
  }
  return views;
}

std::string text_of(const queue::BoundedCount& count) {
  return std::to_string(count.value) + (count.at_least ? "+" : "");
}

std::string pool_name(const config::Settings& settings, std::uint32_t pool) {
  return pool < settings.pools.size() ? settings.pools[pool].name : std::to_string(pool);
}

json worker_json(const config::Settings& settings, const WorkerView& worker) {
  json running = json::array();
  for (const auto& task : worker.running) {
    running.push_back({{"task", task.task},
                       {"type", task.type},
                       {"attempt", task.attempt},
                       {"running_ms", task.running_ms}});
  }
  json view = {{"slot", worker.slot},
               {"pid", worker.pid},
               {"pool", pool_name(settings, worker.pool)},
               {"state", worker.state},
               {"queue", nullptr},
               {"partition", nullptr},
               {"running", std::move(running)},
               {"done", worker.done},
               {"retried", worker.retried},
               {"dead", worker.dead},
               {"deferred", worker.deferred},
               {"takeovers", worker.takeovers},
               {"leases_lost", worker.leases_lost},
               {"deadlocks", worker.deadlocks},
               {"lock_waits", worker.lock_waits}};
  if (worker.leases) {
    view["queue"] = worker.queue;
    view["partition"] = worker.partition;
  }
  return view;
}

void print_json(const config::Settings& settings, const InstanceView& instance,
                const std::optional<std::vector<QueueView>>& queues) {
  json view;
  view["queues"] = nullptr;
  if (queues) {
    view["queues"] = json::array();
    for (const QueueView& queue : *queues) {
      view["queues"].push_back({{"name", queue.info.name},
                                {"partitions", queue.info.partitions},
                                {"waiting", queue.waiting.value},
                                {"waiting_at_least", queue.waiting.at_least},
                                {"dead", queue.dead.value},
                                {"dead_at_least", queue.dead.at_least}});
    }
  }
  view["instance"] = {{"name", settings.daemon.instance},
                      {"running", instance.running},
                      {"runtime_dir", instance.runtime_dir},
                      {"supervisor_pid", instance.supervisor_pid}};
  view["workers"] = json::array();
  for (const WorkerView& worker : instance.workers) {
    view["workers"].push_back(worker_json(settings, worker));
  }
  std::printf("%s\n", view.dump(2, ' ', false, json::error_handler_t::replace).c_str());
}

void print_queues(const std::vector<QueueView>& queues) {
  std::printf("%-24s %10s %10s %10s\n", "QUEUE", "PARTITIONS", "WAITING", "DEAD");
  for (const QueueView& queue : queues) {
    std::printf("%-24s %10u %10s %10s\n", queue.info.name.c_str(), queue.info.partitions,
                text_of(queue.waiting).c_str(), text_of(queue.dead).c_str());
  }
}

void print_workers(const config::Settings& settings, const InstanceView& instance) {
  std::printf("\n%-5s %8s %-12s %-10s %-20s %10s %8s %6s  %s\n", "SLOT", "PID", "POOL", "STATE",
              "PARTITION", "DONE", "RETRIED", "DEAD", "RUNNING");
  for (const WorkerView& worker : instance.workers) {
    const std::string lease =
        worker.leases ? worker.queue + "/" + std::to_string(worker.partition) : "-";
    std::string running = "-";
    if (!worker.running.empty()) {
      const auto& task = worker.running.front();
      running = task.task + " " + task.type + " for " + std::to_string(task.running_ms) + " ms";
    }
    std::printf("%-5u %8u %-12s %-10s %-20s %10llu %8llu %6llu  %s\n", worker.slot, worker.pid,
                pool_name(settings, worker.pool).c_str(), worker.state.c_str(), lease.c_str(),
                static_cast<unsigned long long>(worker.done),
                static_cast<unsigned long long>(worker.retried),
                static_cast<unsigned long long>(worker.dead), running.c_str());
  }
}

}  // namespace

int status(const Context& context, bool as_json) {
  const config::Settings settings = context.settings();
  const InstanceView instance = read_instance(config::runtime_dir(settings));
  std::optional<std::vector<QueueView>> queues;
  int code = kExitOk;
  try {
    queues = read_queues(settings);
  } catch (const Error& error) {
    // The workers are shown all the same: that costs no database, and is wanted most when it is
    // away.
    std::fprintf(stderr, "allot: %s\n", error.what());
    code = error.exit_code();
  }
  if (as_json) {
    print_json(settings, instance, queues);
    return code;
  }
  if (queues) print_queues(*queues);
  if (instance.running) {
    print_workers(settings, instance);
  } else {
    std::printf("\nno allotd is running for instance '%s' (%s)\n", settings.daemon.instance.c_str(),
                instance.runtime_dir.c_str());
  }
  return code;
}

}  // namespace allot::cli
