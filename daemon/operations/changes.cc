// SPDX-License-Identifier: Apache-2.0
// Verbs of routes and locks. Both concern all queues.
#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "json/printable.h"
#include "json/queue_json.h"
#include "operations/cursor.h"
#include "operations/moving.h"
#include "operations/verbs.h"
#include "queue/locks/lock.h"
#include "queue/locks/lock_store.h"
#include "queue/operate/route.h"

namespace allot::operations {
namespace {

using nlohmann::json;

// The route that the request names.
struct RouteWords {
  std::optional<queue::QueueInfo> source;  // nullopt: any queue
  queue::TypePattern types;
};

RouteWords route_words(const Call& call) {
  RouteWords words{std::nullopt, queue::pattern_of(call.text("type"))};
  if (const auto from = call.maybe("from")) words.source = call.queue(*from);
  return words;
}

std::optional<queue::Route> present(db::Connection& db, const RouteWords& words) {
  const std::uint32_t source_id = words.source ? words.source->queue_id : 0;
  for (queue::Route& route : queue::list_routes(db)) {
    if (route.source_id == source_id && route.types == words.types) return std::move(route);
  }
  return std::nullopt;
}

// The queues that receive the tasks now, before the change.
std::vector<queue::QueueInfo> former(db::Connection& db, const RouteWords& words,
                                     const std::optional<queue::Route>& before,
                                     const std::optional<queue::QueueInfo>& target) {
  std::vector<queue::QueueInfo> queues;
  const bool is_default = !words.source && words.types.text.empty();
  if (target && words.source) queues.push_back(*words.source);
  if (target && !words.source && !is_default) {
    queues = queue::list_queues(db);
    std::erase_if(queues, [&](const queue::QueueInfo& each) {
      return each.queue_id == target->queue_id || each.shape.placement != target->shape.placement;
    });
  }
  if (before) {
    if (auto queue = queue::find_queue(db, before->to)) queues.push_back(std::move(*queue));
  }
  return queues;
}

// Refuses a route by which two tasks may have the same key, one in each queue.
void check_keys(const Call& call, const RouteWords& words,
                const std::vector<queue::QueueInfo>& queues) {
  if (call.flag("confirm")) return;
  std::string found;
  for (const queue::QueueInfo& queue : queues) {
    const queue::BoundedCount keys = queue::live_keys(call.db(), queue, words.types);
    if (keys.value == 0) continue;
    found += (found.empty() ? "" : ", ") + std::to_string(keys.value) +
             (keys.value == 1 ? " task" : " tasks") + (keys.at_least ? " or more" : "") +
             " of queue " + queue.name;
  }
  if (found.empty()) return;
  refuse(409,
         found +
             " with a unique key, which belongs to its queue: a later task may use the same key "
             "in another queue; send \"confirm\": true",
         "confirm");
}

// `field` names the parameter of the source queue.
void check_move(const Call& call, const queue::QueueInfo& from, const queue::QueueInfo& to,
                const char* field) {
  require_spread(from, field);
  require_spread(to, "to");
  if (const auto cursor = call.maybe("cursor")) (void)task_at(List::kMove, *cursor);
}

json move_some(const Call& call, const queue::TypePattern& types, const queue::QueueInfo& from,
               const queue::QueueInfo& to) {
  json made = move_page(call, types, from, to);
  if (call.flag("count")) return made;
  call.did("move_waiting", made["moved"].dump() + " of " + queue::text_of(types) + " from " +
                               from.name + " to " + to.name);
  return made;
}

std::string text_of(const RouteWords& words) {
  if (!words.source && words.types.text.empty()) return "tasks that name no queue";
  return "tasks of type " + queue::text_of(words.types) + " submitted to " +
         (words.source ? "queue " + words.source->name : "any queue");
}

std::string text_of_route(const RouteWords& words) {
  return queue::text_of(words.types) + " from " +
         (words.source ? words.source->name : std::string("any queue"));
}

std::string lock_name(const Call& call) {
  std::string name = call.text("lock");
  queue::validate_lock_name(name);
  return name;
}

[[noreturn]] void unknown_lock(const std::string& name) {
  refuse(404, "unknown lock '" + as_json::printable(name, queue::kMaxLockName) + "'", "lock");
}

queue::LockView named_lock(const Call& call, const std::string& name) {
  auto lock = queue::show_lock(call.db(), name);
  if (!lock) unknown_lock(name);
  return std::move(*lock);
}

}  // namespace

Document list_routes(Call& call) {
  return list_of_each(queue::list_routes(call.db()), as_json::route);
}

Document list_locks(Call& call) {
  return list_of_each(queue::list_locks(call.db()),
                      [](const queue::LockSummary& lock) { return as_json::lock(lock); });
}

Document show_lock(Call& call) {
  const std::string name = lock_name(call);
  return answer_of(as_json::lock(name, named_lock(call, name)));
}

Document set_route(Call& call) {
  const RouteWords words = route_words(call);
  const queue::QueueInfo target = call.queue(call.text("to"));
  queue::check_route(call.db(), words.source, words.types, target);
  const bool moves = call.flag("move");
  if (moves && !words.source) {
    // Pages need a single source queue to have an end.
    refuse(400, "'move' requires 'from', the queue in which the tasks wait", "from");
  }
  if (moves) check_move(call, *words.source, target, "from");
  check_keys(call, words, former(call.db(), words, present(call.db(), words), target));
  queue::set_route(call.db(), words.source, words.types, target);
  call.did("set_route", text_of_route(words) + " to " + target.name);
  const auto route = present(call.db(), words);
  if (!route) refuse(409, "another user has removed the route");
  json document = as_json::route(*route);
  if (moves) document["waiting"] = move_some(call, words.types, *words.source, target);
  return answer_of(document);
}

Document move_waiting(Call& call) {
  const queue::QueueInfo from = call.queue();
  const queue::QueueInfo to = call.queue(call.text("to"));
  if (from.queue_id == to.queue_id) refuse(400, "'to' must be another queue", "to");
  check_move(call, from, to, "queue");
  const queue::TypePattern types = queue::pattern_of(call.maybe("type").value_or("*"));
  return answer_of(move_some(call, types, from, to));
}

Document remove_route(Call& call) {
  const RouteWords words = route_words(call);
  const auto route = present(call.db(), words);
  if (!route) refuse(404, "unknown route of " + text_of(words), "type");
  queue::check_end_of_route(call.db(), words.source, words.types);
  check_keys(call, words, former(call.db(), words, route, std::nullopt));
  queue::remove_route(call.db(), words.source, words.types);
  call.did("remove_route", text_of_route(words));
  return answer_of(as_json::route(*route));
}

Document resize_lock(Call& call) {
  const std::string name = lock_name(call);
  const std::uint32_t slots = call.number("slots", 0);
  queue::validate_slots(slots);
  if (!queue::resize_lock(call.db(), name, slots)) unknown_lock(name);
  call.ringer().ring_lock(name);
  call.did("resize_lock", name + " " + std::to_string(slots));
  return answer_of(as_json::lock(name, named_lock(call, name)));
}

Document break_lock(Call& call) {
  const std::string name = lock_name(call);
  const auto only = call.maybe("slot");
  json broken = json::array();
  for (const queue::LockSlotView& slot : named_lock(call, name).held) {
    if (only && *only != std::to_string(slot.slot)) continue;
    if (!queue::break_lock(call.db(), name, slot)) continue;
    broken.push_back(as_json::lock_slot(slot));
    call.did("break_lock", name + " slot " + std::to_string(slot.slot));
  }
  if (!broken.empty()) call.ringer().ring_lock(name);
  return answer_of({{"name", name}, {"broken", std::move(broken)}});
}

}  // namespace allot::operations
