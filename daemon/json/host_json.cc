// SPDX-License-Identifier: Apache-2.0
#include "json/host_json.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

#include "json/fields.h"

namespace allot::as_json {
namespace {

using nlohmann::json;

constexpr std::size_t kMostTasks = 2'000;  // limit per host

// A text of a state written by any version; "" if missing.
std::string state_text(const json& object, const char* name) {
  const auto at = object.is_object() ? object.find(name) : object.end();
  return at != object.end() && at->is_string() ? at->get<std::string>() : std::string();
}

json state_list(const json& object, const char* name) {
  const auto at = object.is_object() ? object.find(name) : object.end();
  return at != object.end() && at->is_array() ? *at : json::array();
}

using May = std::function<bool(const std::string&)>;

json pools_for(const json& state, const May& may) {
  json pools = json::array();
  for (const json& pool : state_list(state, "pools")) {
    json queues = json::array();
    for (const json& queue : state_list(pool, "queues")) {
      if (queue == "*" || (queue.is_string() && may(queue.get<std::string>()))) {
        queues.push_back(queue);
      }
    }
    if (queues.empty()) continue;
    json part = pool;
    part["queues"] = std::move(queues);
    pools.push_back(std::move(part));
  }
  return pools;
}

// null: unrelated to these queues. The worker's counts include other queues, so they are omitted.
json worker_for(const json& worker, const May& may) {
  json running = json::array();
  for (const json& task : state_list(worker, "running")) {
    if (may(state_text(task, "queue"))) running.push_back(task);
  }
  const std::string leased = state_text(worker, "queue");
  const bool leases = !leased.empty() && may(leased);
  if (running.empty() && !leases) return {};
  json part = {{"running", std::move(running)}, {"queue", nullptr}, {"partition", nullptr}};
  for (const char* name :
       {"slot", "pid", "pool", "state", "database_unreachable", "stale_configuration"}) {
    if (worker.contains(name)) part[name] = worker[name];
  }
  if (!leases) return part;
  part["queue"] = worker["queue"];
  part["partition"] = worker.value("partition", json());
  return part;
}

}  // namespace

std::string configuration_text(std::uint64_t config_mark) {
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(config_mark));
  return text.data();
}

json pools_of(const std::vector<queue::ServingPool>& pools) {
  json list = json::array();
  for (const queue::ServingPool& pool : pools) {
    list.push_back({{"name", pool.name}, {"workers", pool.workers}, {"queues", pool.queues}});
  }
  return list;
}

json worker(const host::WorkerView& worker) {
  json running = json::array();
  for (const auto& task : worker.running) {
    running.push_back(
        {{"task", task.task},
         {"type", task.type},
         {"queue", task.queue},
         {"attempt", task.attempt},
         {"running_ms", task.running_ms},
         {"detached", task.detached},
         {"progress", or_null(task.progress.percent)},
         {"progress_text", task.progress.percent ? json(task.progress.word) : json()}});
  }
  json view = {{"slot", worker.slot},
               {"pid", worker.pid},
               {"pool", worker.pool},
               {"state", worker.state},
               {"database_unreachable", worker.database_unreachable},
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

json stewards(const host::InstanceView& view) {
  json list = json::array();
  for (const host::WorkerView& steward : view.stewards) {
    list.push_back({{"slot", steward.slot},
                    {"pid", steward.pid},
                    {"state", steward.state},
                    {"database_unreachable", steward.database_unreachable}});
  }
  return list;
}

json host_state(const host::InstanceView& view, const HostFacts& facts) {
  json workers = json::array();
  std::size_t room = kMostTasks;
  std::size_t omitted = 0;
  for (const host::WorkerView& one : view.workers) {
    host::WorkerView shown = one;
    const std::size_t count = std::min(room, shown.running.size());
    omitted += shown.running.size() - count;
    room -= count;
    shown.running.resize(count);
    workers.push_back(worker(shown));
    workers.back()["stale_configuration"] = one.config_mark != facts.config_mark;
  }
  return {
      {"version", facts.version},       {"configuration", configuration_text(facts.config_mark)},
      {"pools", pools_of(facts.pools)}, {"workers", std::move(workers)},
      {"stewards", stewards(view)},     {"omitted", omitted}};
}

json host_state_for(const json& state, const May& may) {
  json workers = json::array();
  for (const json& worker : state_list(state, "workers")) {
    json part = worker_for(worker, may);
    if (!part.is_null()) workers.push_back(std::move(part));
  }
  return {{"version", state_text(state, "version")},
          {"configuration", state_text(state, "configuration")},
          {"pools", pools_for(state, may)},
          {"workers", std::move(workers)},
          {"stewards", json::array()},
          {"omitted", state.is_object() ? state.value("omitted", json(0)) : json(0)}};
}

}  // namespace allot::as_json
