// SPDX-License-Identifier: Apache-2.0
// Verbs of bulk actions on dead tasks (decision 0015): first a count, then the same request with
// the count's token.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "json/queue_json.h"
#include "operations/cursor.h"
#include "operations/verbs.h"
#include "queue/model/task_facts.h"
#include "queue/operate/bulk_action.h"

namespace allot::operations {
namespace {

using nlohmann::json;

constexpr std::uint32_t kMostActions = 1'000;

// An action is visible to callers who see its queue.
queue::BulkAction action_of(const Call& call, std::uint64_t action_id) {
  auto action = queue::find_bulk(call.db(), action_id);
  if (action && call.may(action->queue)) return std::move(*action);
  refuse(404,
         "unknown bulk action " + std::to_string(action_id) +
             ": it ended more than a week ago, or never existed",
         "action");
}

queue::BulkAction named_action(const Call& call) {
  return action_of(call, call.number("action", 0));
}

std::uint64_t begin(const Call& call, const queue::QueueInfo& queue,
                    const queue::BulkRequest& request) {
  try {
    return queue::begin_bulk(call.db(), queue, request);
  } catch (const db::DbError&) {
    throw;
  } catch (const Error& error) {
    if (error.exit_code() == kExitBadInput) refuse(400, error.what(), "token");
    if (error.exit_code() == kExitFailure) refuse(409, error.what());
    throw;
  }
}

Document act_on_dead(const Call& call, queue::BulkKind kind) {
  const queue::BulkFilter filter{call.text("group"), call.text("type")};
  const queue::QueueInfo queue = call.queue();
  const std::string token = call.text("token");
  if (token.empty()) {
    const queue::BulkCount count =
        queue::count_bulk(call.db(), kind, queue, filter, queue::kCountBound);
    return answer_of({{"kind", queue::name_of(kind)},
                      {"queue", queue.name},
                      {"tasks", count.tasks},
                      {"tasks_at_least", count.more},
                      {"token", count.token}});
  }
  const std::uint64_t action_id =
      begin(call, queue,
            {kind, filter, token, call.number("rate", 0), std::string(call.caller().name())});
  call.ringer().ring_steward();
  call.did(queue::name_of(kind), queue.name + " bulk action " + std::to_string(action_id));
  Document document = answer_of(as_json::bulk_action(action_of(call, action_id)), 202);
  document.fields.emplace_back(
      "location", call.service().base_path + "/api/v1/bulk/" + std::to_string(action_id));
  return document;
}

}  // namespace

Document retry_all_dead(Call& call) {
  return act_on_dead(call, queue::BulkKind::kRetryDead);
}

Document discard_all_dead(Call& call) {
  return act_on_dead(call, queue::BulkKind::kDiscardDead);
}

Document list_bulk_actions(Call& call) {
  std::uint64_t before = UINT64_MAX;
  if (const auto cursor = call.maybe("cursor")) before = number_at(List::kBulk, *cursor);
  const std::size_t limit = call.number("limit", kLimit);
  json items = json::array();
  const auto actions = queue::list_bulk(call.db(), before, kMostActions);
  for (const queue::BulkAction& action : actions) {
    before = action.action_id;
    if (call.may(action.queue)) items.push_back(as_json::bulk_action(action));
    if (items.size() == limit) break;
  }
  const bool end = actions.size() < kMostActions && items.size() < limit;
  return list_of(std::move(items), end ? "" : cursor_of(List::kBulk, before));
}

Document show_bulk_action(Call& call) {
  return answer_of(as_json::bulk_action(named_action(call)));
}

Document stop_bulk_action(Call& call) {
  const queue::BulkAction before = named_action(call);
  const bool stopped = queue::stop_bulk(call.db(), before.action_id, call.caller().name());
  const queue::BulkAction now = named_action(call);
  const std::string number = std::to_string(now.action_id);
  if (!stopped) {
    refuse(
        409,
        "bulk action " + number + " had already ended: " + std::string(queue::name_of(now.state)),
        "action");
  }
  call.did("stop_bulk", number);
  return answer_of(as_json::bulk_action(now));
}

}  // namespace allot::operations
