// SPDX-License-Identifier: Apache-2.0
#include "json/view_reader.h"

#include <array>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "base/error.h"
#include "json/base64.h"
#include "json/due.h"
#include "json/fields.h"
#include "json/printable.h"

namespace allot::as_json {
namespace {

using nlohmann::json;

constexpr std::size_t kShownWord = 40;

template <typename Value>
Value field(const json& document, const char* name) {
  return document.at(name).get<Value>();
}

[[noreturn]] void refuse_word(const char* name, const std::string& word) {
  throw Error(std::string(name) + " '" + printable(word, kShownWord) +
                  "' is unknown: the gateway has a later version",
              kExitConfig);
}

// Looks up a value by its name in the document.
template <typename Value, std::size_t kCount>
Value named(const json& document, const char* name, const std::array<Value, kCount>& values) {
  const auto word = field<std::string>(document, name);
  for (const Value value : values) {
    if (queue::name_of(value) == word) return value;
  }
  refuse_word(name, word);
}

std::optional<queue::Moment> moment_in(const json& document, const char* name) {
  const std::string text = text_in(document, name);
  return text.empty() ? std::nullopt : std::optional(parse_moment(name, text));
}

// Reverse of span_text().
std::chrono::microseconds span_in(const json& document, const char* name) {
  const std::string text = text_in(document, name);
  if (text.empty()) return {};
  if (text.ends_with("us")) return std::chrono::microseconds(std::stoll(text));
  return parse_delay(name, text);
}

// Reverse of add_payload(); empty in a list.
std::string payload_in(const json& document) {
  if (!document.contains("payload_base64")) return text_in(document, "payload");
  return from_base64(field<std::string>(document, "payload_base64")).value();
}

std::chrono::microseconds milliseconds_in(const json& document, const char* name) {
  return std::chrono::milliseconds(field<std::int64_t>(document, name));
}

queue::LockSlotView lock_slot_of(const json& document) {
  queue::LockSlotView slot;
  slot.slot = field<std::uint32_t>(document, "slot");
  slot.retired = field<bool>(document, "retired");
  slot.state = field<std::string>(document, "state");
  slot.token = field<std::uint64_t>(document, "token");
  slot.host = field<std::string>(document, "host");
  slot.pid = field<std::uint32_t>(document, "pid");
  slot.ttl = milliseconds_in(document, "ttl_ms");
  slot.held_for = milliseconds_in(document, "held_ms");
  slot.remaining = milliseconds_in(document, "remaining_ms");
  return slot;
}

queue::TicketView ticket_of(const json& document) {
  return {field<std::uint64_t>(document, "ticket"), field<std::string>(document, "host"),
          field<std::uint32_t>(document, "pid"), milliseconds_in(document, "waiting_ms"),
          field<bool>(document, "live")};
}

queue::ScheduleSpec spec_of(const json& document) {
  using queue::Late;
  using queue::Overlap;
  queue::ScheduleSpec spec;
  spec.name = field<std::string>(document, "name");
  spec.expression = field<std::string>(document, "expression");
  spec.zone = field<std::string>(document, "zone");
  spec.queue = field<std::string>(document, "queue");
  spec.type = field<std::string>(document, "type");
  spec.payload = payload_in(document);
  spec.late = named(document, "late", std::array{Late::kOnce, Late::kSkip, Late::kAll});
  spec.late_after = span_in(document, "late_after");
  spec.catch_up = field<std::uint32_t>(document, "catch_up");
  spec.overlap =
      named(document, "overlap", std::array{Overlap::kAllow, Overlap::kSkip, Overlap::kWait});
  spec.jitter = span_in(document, "jitter");
  spec.tick_field = maybe_text_in(document, "tick_field");
  spec.options.prio = field<std::uint32_t>(document, "prio");
  spec.options.delay = span_in(document, "delay");
  spec.options.unique_key = maybe_text_in(document, "unique_key");
  spec.options.unique_for = span_in(document, "unique_for");
  spec.options.partition_key = maybe_text_in(document, "partition_key");
  spec.options.expires_in = span_in(document, "expires_in");
  return spec;
}

}  // namespace

queue::QueueInfo queue_of(const json& document) {
  queue::QueueInfo info;
  info.name = field<std::string>(document, "name");
  info.shape.partitions = field<std::uint32_t>(document, "partitions");
  info.resizing = field<bool>(document, "resizing");
  if (const json& paused = document.at("paused"); !paused.is_null()) {
    info.paused =
        queue::Pause{field<std::string>(paused, "since"), field<std::string>(paused, "reason")};
  }
  if (const json& rate = document.at("rate"); !rate.is_null()) {
    const auto millionths = std::llround(field<double>(rate, "per_second") * 1e6);
    info.rate =
        queue::Rate{static_cast<std::uint64_t>(millionths), field<std::uint32_t>(rate, "burst")};
  }
  info.cap = maybe_u32_in(document, "cap").value_or(0);
  return info;
}

queue::DeadGroup dead_group_of(const json& document) {
  queue::DeadGroup group;
  group.newest.group = field<std::string>(document, "group");
  group.tasks = {field<std::uint64_t>(document, "tasks"), field<bool>(document, "tasks_at_least")};
  group.oldest_died_at = field<std::string>(document, "oldest_died_at");
  const auto newest = field<std::string>(document, "newest_task");
  const auto id = queue::TaskId::parse(newest);
  if (!id) refuse_word("newest_task", newest);
  group.newest.id = *id;
  group.newest.type = field<std::string>(document, "type");
  group.newest.cause = field<std::string>(document, "cause");
  group.newest.fault = field<std::string>(document, "fault");
  group.newest.died_at = field<std::string>(document, "newest_died_at");
  return group;
}

queue::BulkAction bulk_action_of(const json& document) {
  using queue::BulkKind;
  using queue::BulkState;
  queue::BulkAction action;
  action.action_id = field<std::uint64_t>(document, "action");
  action.kind = named(document, "kind", std::array{BulkKind::kRetryDead, BulkKind::kDiscardDead});
  action.queue = field<std::string>(document, "queue");
  action.filter = {text_in(document, "group"), text_in(document, "type")};
  action.died_until = field<std::string>(document, "died_until");
  action.rate = maybe_u32_in(document, "rate").value_or(0);
  action.counted = field<std::uint64_t>(document, "chosen");
  action.counted_all = !field<bool>(document, "chosen_at_least");
  action.done = field<std::uint64_t>(document, "done");
  action.state = named(document, "state",
                       std::array{BulkState::kWaiting, BulkState::kWorking, BulkState::kDone,
                                  BulkState::kStopped, BulkState::kFailed});
  action.asked_by = field<std::string>(document, "asked_by");
  action.begun_at = field<std::string>(document, "begun_at");
  action.ended_at = text_in(document, "ended_at");
  action.stopped_by = text_in(document, "stopped_by");
  action.error = text_in(document, "error");
  return action;
}

queue::Route route_of(const json& document) {
  queue::Route route;
  route.from = maybe_text_in(document, "from");
  route.types = queue::pattern_of(field<std::string>(document, "type"));
  route.to = field<std::string>(document, "to");
  route.set_at = field<std::string>(document, "set_at");
  return route;
}

queue::LockSummary lock_summary_of(const json& document) {
  return {field<std::string>(document, "name"), field<std::uint32_t>(document, "slots"),
          field<std::uint32_t>(document, "held"), field<std::uint64_t>(document, "waiting")};
}

queue::LockView lock_of(const json& document) {
  queue::LockView lock;
  lock.slots = field<std::uint32_t>(document, "slots");
  for (const json& slot : document.at("held")) lock.held.push_back(lock_slot_of(slot));
  for (const json& ticket : document.at("waiting")) lock.line.push_back(ticket_of(ticket));
  return lock;
}

queue::Schedule schedule_of(const json& document) {
  queue::Schedule schedule;
  schedule.spec = spec_of(document);
  schedule.version = field<std::uint64_t>(document, "version");
  schedule.next_run = moment_in(document, "next_run");
  schedule.due_at = moment_in(document, "due_at");
  schedule.last_run = moment_in(document, "last_run");
  schedule.last_task = text_in(document, "last_task");
  schedule.ticks = field<std::uint64_t>(document, "ticks");
  schedule.submitted = field<std::uint64_t>(document, "submitted");
  schedule.skipped = field<std::uint64_t>(document, "skipped");
  schedule.dropped = field<std::uint64_t>(document, "dropped");
  schedule.revision = field<std::uint32_t>(document, "revision");
  if (field<bool>(document, "configured")) schedule.applied = 0;
  if (const json& paused = document.at("paused"); !paused.is_null()) {
    schedule.paused_at = moment_in(paused, "since");
    schedule.pause_reason = field<std::string>(paused, "reason");
  }
  if (const json& error = document.at("error"); !error.is_null()) {
    schedule.error_since = moment_in(error, "since");
    schedule.error = field<std::string>(error, "text");
  }
  return schedule;
}

queue::ScheduleTick tick_of(const json& document) {
  queue::ScheduleTick tick;
  tick.tick = parse_moment("tick", field<std::string>(document, "tick"));
  tick.at = parse_moment("at", field<std::string>(document, "at"));
  tick.task = text_in(document, "task");
  tick.reason = text_in(document, "reason");
  return tick;
}

}  // namespace allot::as_json
