// SPDX-License-Identifier: Apache-2.0
#include "json/queue_json.h"

#include <nlohmann/json.hpp>

#include "config/rows.h"
#include "json/base64.h"
#include "json/fields.h"
#include "json/printable.h"
#include "queue/locks/lock.h"
#include "schedule/in_words.h"

namespace allot::as_json {
namespace {

using nlohmann::json;

std::string lock_name(const std::string& name) {
  return printable(name, 4 * queue::kMaxLockName);
}

bool is_text(const std::string& bytes) {
  try {
    (void)json(bytes).dump();
    return true;
  } catch (const json::type_error&) {  // not UTF-8
    return false;
  }
}

}  // namespace

json queue(const queue::QueueInfo& queue) {
  return {{"name", queue.name},
          {"partitions", queue.partitions()},
          {"paused", pause(queue)},
          {"rate", rate(queue)},
          {"cap", queue.cap == 0 ? json(nullptr) : json(queue.cap)},
          {"resizing", queue.resizing}};
}

json pause(const queue::QueueInfo& queue) {
  if (!queue.paused) return nullptr;
  return {{"since", queue.paused->at}, {"reason", queue.paused->reason}};
}

json rate(const queue::QueueInfo& queue) {
  if (!queue.rate) return nullptr;
  return {{"per_second", static_cast<double>(queue.rate->per_million_seconds) / 1e6},
          {"burst", queue.rate->burst}};
}

json audit_entry(const queue::AuditEntry& entry) {
  return {{"entry", entry.audit_id},
          {"at", entry.at},
          {"actor", entry.actor},
          {"source", entry.source},
          {"action", entry.action},
          {"subject", entry.subject},
          {"name", entry.name},
          {"queue", or_null(entry.queue)},
          {"to_queue", or_null(entry.to_queue)},
          {"tasks", or_null(entry.tasks)},
          {"detail", entry.detail},
          {"reason", entry.reason}};
}

json bulk_action(const queue::BulkAction& action) {
  return {{"action", action.action_id},
          {"kind", queue::name_of(action.kind)},
          {"queue", action.queue},
          {"group", or_null(action.filter.group)},
          {"type", or_null(action.filter.type)},
          {"died_until", action.died_until},
          {"rate", action.rate == 0 ? json(nullptr) : json(action.rate)},
          {"tasks", action.counted},
          {"tasks_at_least", !action.counted_all},
          {"done", action.done},
          {"state", queue::name_of(action.state)},
          {"requested_by", action.requested_by},
          {"started_at", action.started_at},
          {"ended_at", or_null(action.ended_at)},
          {"stopped_by", or_null(action.stopped_by)},
          {"error", or_null(action.error)}};
}

json count(const queue::BoundedCount& count) {
  if (count.at_least) return {{"at_least", count.value}};
  return count.value;
}

json dead_group(const queue::DeadGroup& group, const std::string& queue) {
  return {{"group", group.newest.group},
          {"queue", queue},
          {"type", group.newest.type},
          {"cause", group.newest.cause},
          {"fault", group.newest.fault},
          {"tasks", group.tasks.value},
          {"tasks_at_least", group.tasks.at_least},
          {"oldest_died_at", group.oldest_died_at},
          {"newest_died_at", group.newest.died_at},
          {"newest_task", group.newest.id.text()}};
}

json route(const queue::Route& route) {
  return {{"from", or_null(route.from)},
          {"type", queue::text_of(route.types)},
          {"to", route.to},
          {"set_at", route.set_at}};
}

json lease(const queue::HeldLease& lease) {
  return {{"partition", lease.partition_no},
          {"host", lease.host},
          {"instance", lease.instance},
          {"pid", lease.pid},
          {"until", lease.until},
          {"overdue", lease.overdue},
          {"silent_since", or_null(lease.silent_since)}};
}

json lock(const queue::LockSummary& lock) {
  return {{"name", lock_name(lock.name)},
          {"slots", lock.slots},
          {"held", lock.held},
          {"waiting", lock.waiting}};
}

json lock(const std::string& name, const queue::LockView& lock) {
  json out{{"name", lock_name(name)},
           {"slots", lock.slots},
           {"held", json::array()},
           {"waiting", json::array()}};
  for (const queue::LockSlotView& slot : lock.held) out["held"].push_back(lock_slot(slot));
  for (const queue::TicketView& ticket : lock.line) {
    out["waiting"].push_back({{"ticket", ticket.ticket},
                              {"host", ticket.host},
                              {"pid", ticket.pid},
                              {"waiting_ms", ticket.waiting.count() / 1000},
                              {"live", ticket.live}});
  }
  return out;
}

json lock_slot(const queue::LockSlotView& slot) {
  return {{"slot", slot.slot},
          {"state", slot.state},
          {"token", slot.token},
          {"host", slot.host},
          {"pid", slot.pid},
          {"ttl_ms", slot.ttl.count() / 1000},
          {"held_ms", slot.held_for.count() / 1000},
          {"remaining_ms", slot.remaining.count() / 1000},
          {"retired", slot.retired}};
}

std::string span_text(std::chrono::microseconds span) {
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(span);
  return ms == span ? config::text_of(ms) : std::to_string(span.count()) + "us";
}

json moment(const std::optional<queue::Moment>& moment) {
  if (!moment) return nullptr;
  return moment_text(*moment);
}

void add_payload(json& view, const std::string& payload) {
  const bool text = is_text(payload);
  view["payload"] = text ? json(payload) : json(nullptr);
  if (!text) view["payload_base64"] = to_base64(payload);
}

json schedule_spec(const queue::ScheduleSpec& spec) {
  const queue::SubmitOptions& options = spec.options;
  const bool expires = options.expires_in.count() != 0;
  return {{"expression", spec.expression},
          {"zone", spec.zone},
          {"queue", spec.queue},
          {"type", spec.type},
          {"prio", options.prio},
          {"delay", span_text(options.delay)},
          {"unique_key", or_null(options.unique_key)},
          {"unique_for", span_text(options.unique_for)},
          {"partition_key", or_null(options.partition_key)},
          {"expires_in", expires ? json(span_text(options.expires_in)) : json()},
          {"late", queue::name_of(spec.late)},
          {"late_after", span_text(spec.late_after)},
          {"catch_up", spec.catch_up},
          {"overlap", queue::name_of(spec.overlap)},
          {"jitter", span_text(spec.jitter)},
          {"tick_field", or_null(spec.tick_field)}};
}

json schedule(const queue::Schedule& schedule) {
  json out = schedule_spec(schedule.spec);
  out.update({{"name", schedule.spec.name},
              {"version", schedule.version},
              {"in_words", schedule::in_words(schedule.spec.expression)},
              {"next_run", moment(schedule.next_run)},
              {"due_at", moment(schedule.due_at)},
              {"last_run", moment(schedule.last_run)},
              {"last_task", or_null(schedule.last_task)},
              {"ticks", schedule.ticks},
              {"submitted", schedule.submitted},
              {"skipped", schedule.skipped},
              {"dropped", schedule.dropped},
              {"revision", schedule.revision},
              {"configured", schedule.applied.has_value()},
              {"paused", nullptr},
              {"error", nullptr}});
  if (schedule.paused_at) {
    out["paused"] = {{"since", moment_text(*schedule.paused_at)},
                     {"reason", schedule.pause_reason}};
  }
  if (!schedule.error.empty()) {
    out["error"] = {{"since", moment(schedule.error_since)}, {"text", schedule.error}};
  }
  return out;
}

json tick(const queue::ScheduleTick& tick) {
  return {{"tick", moment_text(tick.tick)},
          {"at", moment_text(tick.at)},
          {"task", or_null(tick.task)},
          {"reason", or_null(tick.reason)}};
}

}  // namespace allot::as_json
