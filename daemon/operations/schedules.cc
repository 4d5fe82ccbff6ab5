// SPDX-License-Identifier: Apache-2.0
// Verbs of schedules.
#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/rows.h"
#include "json/base64.h"
#include "json/fields.h"
#include "json/printable.h"
#include "json/queue_json.h"
#include "operations/verbs.h"
#include "queue/schedules/schedule_store.h"
#include "schedule/expression.h"
#include "schedule/system_zone.h"

namespace allot::operations {
namespace {

using nlohmann::json;

constexpr std::size_t kMostError = 400;

[[noreturn]] void unknown_schedule(const Call& call, const std::string& name) {
  std::vector<std::string> known;
  for (queue::Schedule& schedule : queue::list_schedules(call.db())) {
    if (call.may(schedule.spec.queue)) known.push_back(std::move(schedule.spec.name));
  }
  refuse(404,
         "schedule '" + as_json::printable(name, queue::kMaxScheduleName) + "' does not exist" +
             config::did_you_mean(name, known),
         "schedule");
}

// A schedule is visible to callers who see its queue.
queue::Schedule named_schedule(const Call& call) {
  const std::string name = call.text("schedule");
  auto schedule = queue::find_schedule(call.db(), name);
  if (schedule && call.may(schedule->spec.queue)) return std::move(*schedule);
  unknown_schedule(call, name);
}

// Reads an optional duration parameter.
void read_span(const Call& call, const char* name, std::chrono::microseconds& span) {
  if (const auto text = call.maybe(name)) span = as_json::parse_delay(name, *text);
}

std::string payload_of(const Call& call) {
  const auto coded = call.maybe("payload_base64");
  if (!coded) return call.text("payload");
  if (call.maybe("payload")) {
    refuse(400, "'payload_base64' and 'payload' exclude each other", "payload_base64");
  }
  auto bytes = as_json::from_base64(*coded);
  if (bytes) return std::move(*bytes);
  refuse(400, "'payload_base64' is not valid base64 (with padding, without line breaks)",
         "payload_base64");
}

void check_calendar(const queue::ScheduleSpec& spec) {
  try {
    static_cast<void>(schedule::Expression::parse(spec.expression));
  } catch (const Error& error) {
    refuse(400, "expression: " + as_json::printable(error.what(), kMostError), "expression");
  }
  try {
    schedule::check_zone(spec.zone);
  } catch (const Error& error) {
    refuse(400, as_json::printable(error.what(), kMostError), "zone");
  }
}

// Maps an error to its parameter: the message begins with the name of the field, quoted or not.
[[noreturn]] void refuse_spec(const Call& call, const Error& error) {
  const std::string_view text = error.what();
  for (const Parameter& each : call.route().parameters) {
    const std::string name(each.name);
    if (text.starts_with(name + " ") || text.starts_with("'" + name + "' ")) {
      refuse(400, error.what(), name);
    }
  }
  throw Error(error);
}

queue::ScheduleSpec read_spec(const Call& call) {
  queue::ScheduleSpec spec;
  spec.name = call.text("schedule");
  spec.expression = call.text("expression");
  spec.zone = call.maybe("zone").value_or(spec.zone);
  spec.queue = call.text("queue");
  spec.type = call.text("type");
  spec.payload = payload_of(call);
  const std::string late = call.maybe("late").value_or(std::string(queue::name_of(spec.late)));
  const std::string overlap =
      call.maybe("overlap").value_or(std::string(queue::name_of(spec.overlap)));
  if (!queue::late_of(late)) refuse(400, "'late' must be once, skip or all", "late");
  if (!queue::overlap_of(overlap)) refuse(400, "'overlap' must be allow, skip or wait", "overlap");
  spec.late = *queue::late_of(late);
  spec.overlap = *queue::overlap_of(overlap);
  spec.catch_up = call.number("catch_up", spec.catch_up);
  spec.tick_field = call.maybe("tick_field");
  read_span(call, "late_after", spec.late_after);
  read_span(call, "jitter", spec.jitter);
  queue::SubmitOptions& options = spec.options;
  options.prio = call.number("prio", options.prio);
  options.unique_key = call.maybe("unique_key");
  options.partition_key = call.maybe("partition_key");
  read_span(call, "delay", options.delay);
  read_span(call, "unique_for", options.unique_for);
  read_span(call, "expires_in", options.expires_in);
  check_calendar(spec);
  queue::validate(spec);
  return spec;
}

queue::ScheduleSpec spec_of(const Call& call) {
  try {
    return read_spec(call);
  } catch (const Refusal&) {
    throw;
  } catch (const Error& error) {
    refuse_spec(call, error);
  }
}

// The first run.
std::optional<queue::Moment> first_run(const Call& call, const queue::ScheduleSpec& spec) {
  const queue::Moment now = queue::database_now(call.db());
  const auto after = std::chrono::floor<std::chrono::seconds>(now).time_since_epoch().count();
  const auto next = call.service().next_run(spec.expression, spec.zone, after);
  if (!next) return std::nullopt;
  return queue::Moment(std::chrono::seconds(*next));
}

// A schedule submits tasks, so the caller needs the role submit.
void require_submit(const Call& call, const std::string& queue) {
  if (call.caller().may(gateway::access::Role::kSubmit, queue)) return;
  refuse(403, "a schedule submits tasks: this also needs the role submit for its queue", "queue");
}

// Checks a spec for a queue that exists only in the configuration, before anything creates it.
void validate_future(const Call& call, const queue::ScheduleSpec& spec) {
  const config::Queue* keys = configured(call.service(), spec.queue);
  if (keys == nullptr || !call.may(spec.queue) || queue::find_queue(call.db(), spec.queue)) return;
  queue::validate(spec, {0, spec.queue, queue::shape_of(*keys)});
}

}  // namespace

Document put_schedule(Call& call) {
  const queue::ScheduleSpec spec = spec_of(call);
  if (const auto before = queue::find_schedule(call.db(), spec.name)) {
    if (!call.may(before->spec.queue)) unknown_schedule(call, spec.name);
  }
  validate_future(call, spec);
  const queue::QueueInfo queue = call.queue(spec.queue);
  require_submit(call, queue.name);
  queue::validate(spec, queue);
  const queue::Put put = queue::put_schedule(call.db(), spec, first_run(call, spec));
  const bool added = put == queue::Put::kAdded;
  if (put != queue::Put::kSame) {
    call.did(added ? "add_schedule" : "change_schedule", spec.name);
  }
  return answer_of(as_json::schedule(named_schedule(call)), added ? 201 : 200);
}

Document remove_schedule(Call& call) {
  const queue::Schedule schedule = named_schedule(call);
  if (!queue::remove_schedule(call.db(), schedule.spec.name)) {
    refuse(404, "the schedule no longer exists", "schedule");
  }
  call.did("remove_schedule", schedule.spec.name);
  return answer_of(as_json::schedule(schedule));
}

Document list_schedules(Call& call) {
  json items = json::array();
  for (const queue::Schedule& schedule : queue::list_schedules(call.db())) {
    if (call.may(schedule.spec.queue)) items.push_back(as_json::schedule(schedule));
  }
  return list_of(std::move(items));
}

Document show_schedule(Call& call) {
  const queue::Schedule schedule = named_schedule(call);
  json view = as_json::schedule(schedule);
  as_json::add_payload(view, schedule.spec.payload);
  view["last_ticks"] = json::array();
  for (const queue::ScheduleTick& tick : queue::list_ticks(call.db(), schedule.schedule_id)) {
    view["last_ticks"].push_back(as_json::tick(tick));
  }
  return answer_of(view);
}

Document pause_schedule(Call& call) {
  const std::string reason = call.text("reason");
  const std::string name = named_schedule(call).spec.name;
  (void)queue::pause_schedule(call.db(), name, reason);
  call.did("pause_schedule", name);
  return answer_of(as_json::schedule(named_schedule(call)));
}

Document resume_schedule(Call& call) {
  const std::string name = named_schedule(call).spec.name;
  (void)queue::resume_schedule(call.db(), name);
  call.did("resume_schedule", name);
  return answer_of(as_json::schedule(named_schedule(call)));
}

Document run_schedule(Call& call) {
  const std::string name = named_schedule(call).spec.name;
  const auto task = queue::run_schedule_now(call.db(), name);
  if (!task) refuse(404, "the schedule no longer exists", "schedule");
  call.ringer().ring({{task->partition.queue_id, 1}});
  call.did("run_schedule", name);
  return answer_of({{"name", name}, {"task", task->text()}}, 201);
}

}  // namespace allot::operations
