// SPDX-License-Identifier: Apache-2.0
// The verbs of what belongs to no queue: workers, routes, schedules, locks.
#include <nlohmann/json.hpp>
#include <utility>

#include "gateway/api/problem.h"
#include "gateway/api/verbs.h"
#include "json/instance_view.h"
#include "json/printable.h"
#include "json/queue_json.h"
#include "peer/doorbell.h"
#include "queue/locks/lock.h"
#include "queue/locks/lock_store.h"
#include "queue/operate/route.h"
#include "queue/schedules/schedule_store.h"

namespace allot::gateway::api {
namespace {

using nlohmann::json;

constexpr std::size_t kMostReason = 255;  // schedule.pause_reason

json list_document(json items) {
  return {{"items", std::move(items)}, {"next", nullptr}};
}

// A schedule is seen by those who see its queue.
queue::Schedule named_schedule(const Call& call) {
  const std::string name = call.text("schedule");
  auto schedule = queue::find_schedule(call.db(), name);
  if (schedule && call.may(schedule->spec.queue)) return std::move(*schedule);
  refuse(404, "there is no schedule '" + as_json::printable(name, queue::kMaxScheduleName) + "'",
         "schedule");
}

}  // namespace

http::Response list_workers(Call& call) {
  json workers = json::array();
  json stewards = json::array();
  bool running = false;
  if (!call.service().runtime_dir.empty()) {
    const as_json::InstanceView view = as_json::read_instance(call.service().runtime_dir);
    if (!view.trouble.empty()) refuse(500, "the workers cannot be shown: " + view.trouble);
    for (const as_json::WorkerView& worker : view.workers) {
      workers.push_back(as_json::worker(worker));
    }
    stewards = as_json::stewards(view);
    running = view.running;
  }
  return answer_of({{"instance", call.service().instance},
                    {"running", running},
                    {"workers", std::move(workers)},
                    {"stewards", std::move(stewards)}});
}

http::Response list_routes(Call& call) {
  json items = json::array();
  for (const queue::Route& route : queue::list_routes(call.db())) {
    items.push_back(as_json::route(route));
  }
  return answer_of(list_document(std::move(items)));
}

http::Response list_schedules(Call& call) {
  json items = json::array();
  for (const queue::Schedule& schedule : queue::list_schedules(call.db())) {
    if (call.may(schedule.spec.queue)) items.push_back(as_json::schedule(schedule));
  }
  return answer_of(list_document(std::move(items)));
}

http::Response show_schedule(Call& call) {
  const queue::Schedule schedule = named_schedule(call);
  json view = as_json::schedule(schedule);
  view["payload"] = schedule.spec.payload;
  view["last_ticks"] = json::array();
  for (const queue::ScheduleTick& tick : queue::list_ticks(call.db(), schedule.schedule_id)) {
    view["last_ticks"].push_back(as_json::tick(tick));
  }
  return answer_of(view);
}

http::Response pause_schedule(Call& call) {
  const std::string reason = call.text("reason");
  if (reason.size() > kMostReason) refuse(400, "'reason' has at most 255 bytes", "reason");
  const std::string name = named_schedule(call).spec.name;
  (void)queue::pause_schedule(call.db(), name, reason);
  log_action(call.caller(), "pause_schedule", name);
  return answer_of(as_json::schedule(named_schedule(call)));
}

http::Response resume_schedule(Call& call) {
  const std::string name = named_schedule(call).spec.name;
  (void)queue::resume_schedule(call.db(), name);
  log_action(call.caller(), "resume_schedule", name);
  return answer_of(as_json::schedule(named_schedule(call)));
}

http::Response run_schedule(Call& call) {
  const std::string name = named_schedule(call).spec.name;
  const auto task = queue::run_schedule_now(call.db(), name);
  if (!task) refuse(404, "the schedule is gone", "schedule");
  const std::string& folder = call.service().runtime_dir;
  if (!folder.empty()) peer::ring_at(folder.c_str(), {{task->partition.queue_id, 1}});
  log_action(call.caller(), "run_schedule", name);
  return answer_of({{"name", name}, {"task", task->text()}}, 201);
}

http::Response list_locks(Call& call) {
  json items = json::array();
  for (const queue::LockSummary& lock : queue::list_locks(call.db())) {
    items.push_back(as_json::lock(lock));
  }
  return answer_of(list_document(std::move(items)));
}

http::Response show_lock(Call& call) {
  const std::string name = call.text("lock");
  queue::validate_lock_name(name);
  const auto lock = queue::show_lock(call.db(), name);
  if (!lock) {
    refuse(404, "there is no lock '" + as_json::printable(name, queue::kMaxLockName) + "'", "lock");
  }
  return answer_of(as_json::lock(name, *lock));
}

}  // namespace allot::gateway::api
