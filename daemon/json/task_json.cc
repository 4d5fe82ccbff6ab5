// SPDX-License-Identifier: Apache-2.0
#include "json/task_json.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "json/fields.h"

namespace allot::as_json {
namespace {

using nlohmann::json;

void add_unique(json& view, const std::optional<queue::UniqueKey>& unique) {
  view["unique_key"] = unique ? json(unique->key) : json(nullptr);
  view["unique_key_free_at"] = unique ? or_null(unique->free_at) : json(nullptr);
}

void add_headers(json& view, const queue::Headers& headers) {
  view["max_attempts"] = headers.max_attempts == 0 ? json(nullptr) : json(headers.max_attempts);
  view["max_losses"] = headers.max_losses == 0 ? json(nullptr) : json(headers.max_losses);
  view["label"] = or_null(headers.label);
  const auto limit_ms = headers.time_limit.count();
  view["time_limit_ms"] = limit_ms == 0 ? json(nullptr) : json(limit_ms);
  view["traceparent"] = or_null(headers.trace.parent);
  view["tracestate"] = or_null(headers.trace.state);
}

void add_details(json& view, const queue::FullTask& full) {
  const queue::TaskView& task = *full.task;
  view["expires_at"] = or_null(task.expires_at);
  view["partition_key_hash"] = or_null(task.key_hash);
  view["payload"] = task.payload.substr(0, kShownPayload);
  view["payload_truncated"] = task.payload.size() > kShownPayload;
  if (task.running) {
    view["detached_at"] = task.since;
    view["progress"] = or_null(task.progress.percent);
    view["progress_text"] = or_null(task.progress.word);
  }
  view["leased_by"] = task.running ? json(nullptr) : or_null(task.holder);
  if (task.dead) view["detail"] = or_null(task.detail);
  view["cancel_requested"] = json(nullptr);
  if (full.cancel && !task.dead) {
    view["cancel_requested"] = {{"at", full.cancel->requested_at},
                                {"reason", full.cancel->reason},
                                {"as_done", full.cancel->as_done}};
  }
}

}  // namespace

const char* state_of(const queue::TaskView& task) {
  if (task.dead) return "dead";
  return task.running ? "running" : "waiting";
}

json task(const queue::TaskView& task, const std::string& queue) {
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
    view["fault"] = task.fault;
  }
  if (task.running) view["running_on"] = task.holder;
  return view;
}

json done(const queue::Done& done, const std::string& queue) {
  return {{"task", done.id.text()},
          {"queue", queue},
          {"type", done.type},
          {"prio", done.id.prio},
          {"partition", done.id.partition.partition_no},
          {"state", "done"},
          {"attempt", done.attempt},
          {"ended_at", done.ended_at},
          {"worker", done.worker},
          {"runtime_us", or_null(done.usage.runtime_us)},
          {"cpu_us", or_null(done.usage.cpu_us)},
          {"max_rss_kib", or_null(done.usage.max_rss_kib)}};
}

json attempts(const std::vector<queue::AttemptView>& attempts) {
  json list = json::array();
  for (const queue::AttemptView& attempt : attempts) {
    list.push_back({{"retries_since", attempt.retries_since},
                    {"attempt", attempt.attempt},
                    {"ended_at", attempt.ended_at},
                    {"cause", attempt.cause},
                    {"error", attempt.error},
                    {"detail", or_null(attempt.detail)},
                    {"fault", attempt.fault},
                    {"log", or_null(attempt.log)},
                    {"worker", attempt.worker},
                    {"runtime_us", or_null(attempt.usage.runtime_us)},
                    {"cpu_us", or_null(attempt.usage.cpu_us)},
                    {"max_rss_kib", or_null(attempt.usage.max_rss_kib)}});
  }
  return list;
}

json document(const queue::FullTask& full) {
  json view = full.task ? task(*full.task, full.queue) : done(*full.done, full.queue);
  view["first_due_at"] = (full.task ? full.task->id : full.done->id).first_due();
  add_unique(view, full.unique);
  add_headers(view, full.task ? full.task->headers : full.done->headers);
  if (full.task) add_details(view, full);
  view["attempts"] = attempts(full.attempts);
  return view;
}

json key_owner(const queue::KeyOwner& owner, const std::string& queue,
               std::string_view unique_key) {
  return {{"task", owner.id.text()},
          {"queue", queue},
          {"unique_key", unique_key},
          {"state", queue::name_of(owner.state)},
          {"unique_key_free_at", or_null(owner.free_at)}};
}

json cancelled(const queue::Cancelled& cancelled, const queue::TaskId& id, bool as_done) {
  return {{"task", id.text()},
          {"cancelled", cancelled.done},
          {"as_done", as_done},
          {"requested", cancelled.requested},
          {"may_run", cancelled.may_run},
          {"leased_by", or_null(cancelled.holder)}};
}

json submitted(const queue::Submitted& made) {
  json view{{"id", made.id.text()}, {"existed", made.existed()}};
  if (const char* state = queue::name_of(made.owner)) view["state"] = state;
  return view;
}

}  // namespace allot::as_json
