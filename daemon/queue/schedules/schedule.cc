// SPDX-License-Identifier: Apache-2.0
#include "queue/schedules/schedule.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/checksum.h"
#include "base/error.h"
#include "base/names.h"
#include "queue/model/statements.h"

namespace allot::queue {
namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 3> kLates{"once", "skip", "all"};
constexpr std::array<std::string_view, 3> kOverlaps{"allow", "skip", "wait"};
constexpr std::chrono::hours kMaxJitter{24};
// The name of a tick_field, its tick, and the characters around them.
constexpr std::size_t kTickRoom = kMaxQueueName + 64;

[[noreturn]] void refuse(const std::string& text) {
  throw Error(text, kExitBadInput);
}

void check_name(std::string_view field, std::string_view word) {
  if (is_name(word)) return;
  refuse(std::string(field) + " " + one_line(word) + ": 1 to 63 of A-Z a-z 0-9 . _ - are allowed");
}

void check_text(std::string_view field, std::string_view text, std::size_t most) {
  const bool printable = std::all_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) >= ' ' && static_cast<unsigned char>(c) < 0x7f;
  });
  if (!text.empty() && text.size() <= most && printable) return;
  refuse(std::string(field) + " " + one_line(text) + ": 1 to " + std::to_string(most) +
         " characters of ASCII are allowed");
}

void check_span(std::string_view field, std::chrono::microseconds span,
                std::chrono::microseconds most) {
  if (span.count() >= 0 && span <= most) return;
  refuse(std::string(field) + " of " + std::to_string(span.count()) + " microseconds: 0 to " +
         std::to_string(std::chrono::duration_cast<std::chrono::hours>(most).count()) +
         " hours are allowed");
}

// An empty payload becomes an object that has only the tick.
void check_tick_field(const std::string& field, const std::string& payload) {
  check_name("tick_field", field);
  if (payload.size() + kTickRoom > kMaxPayload) {
    refuse("payload of " + std::to_string(payload.size()) +
           " bytes leaves no space for tick_field");
  }
  if (payload.empty()) return;
  // The parser would treat a NUL byte as the end.
  const bool whole = payload.find('\0') == std::string::npos;
  const json object = whole ? json::parse(payload, nullptr, false) : json();
  if (!object.is_object()) {
    refuse("payload: with tick_field '" + field + "' it must be a JSON object");
  }
  if (object.contains(field)) refuse("tick_field: the payload has a field '" + field + "' already");
}

// The payload's own bytes stay unchanged: a number that is parsed and written may change.
std::string with_tick(const std::string& payload, const std::string& field, Moment tick) {
  const std::string member = "\"" + field + "\":\"" + moment_text(tick) + "\"";
  const std::size_t brace = payload.find('{');
  if (brace == std::string::npos) return "{" + member + "}";
  const std::size_t next = payload.find_first_not_of(" \t\r\n", brace + 1);
  const bool only_member = next == std::string::npos || payload[next] == '}';
  return payload.substr(0, brace + 1) + member + (only_member ? "" : ",") +
         payload.substr(brace + 1);
}

// Mixed once more, because ticks differ in few bits.
std::uint64_t hash_of(std::string_view name, std::uint64_t tick) {
  Checksum sum(name);
  for (int shift = 0; shift < 64; shift += 8) {
    const char byte = static_cast<char>(tick >> shift);
    sum.add({&byte, 1});
  }
  std::uint64_t hash = sum.value();
  hash = (hash ^ (hash >> 33)) * 0xff51afd7ed558ccdU;
  return hash ^ (hash >> 33);
}

}  // namespace

std::string_view name_of(Late late) {
  return kLates.at(static_cast<std::size_t>(late));
}

std::string_view name_of(Overlap overlap) {
  return kOverlaps.at(static_cast<std::size_t>(overlap));
}

std::optional<Late> late_of(std::string_view name) {
  return value_of<Late>(kLates, name);
}

std::optional<Overlap> overlap_of(std::string_view name) {
  return value_of<Overlap>(kOverlaps, name);
}

void validate(const ScheduleSpec& spec) {
  check_name("name", spec.name);
  check_text("expression", spec.expression, kMaxExpression);
  check_text("zone", spec.zone, kMaxZone);
  check_name("queue", spec.queue);
  const SubmitOptions& options = spec.options;
  if (options.run_at)
    refuse("run_at: not allowed, because the schedule determines when its tasks run");
  if (options.expires_at) refuse("expires_at: not allowed for tasks of a schedule; use expires_in");
  if (options.compress_above || options.compression != Compression::kNone) {
    refuse("compression: not allowed, because the payload of a schedule is stored uncompressed");
  }
  const bool traced = !options.traceparent.empty() || !options.tracestate.empty();
  if (options.max_attempts || options.max_losses || !options.label.empty() || options.time_limit ||
      traced) {
    refuse(
        "max_attempts, max_losses, label, time_limit, traceparent, tracestate: not allowed for "
        "tasks of a schedule");
  }
  check_fields({{}, spec.type, spec.payload, options});
  check_span("late_after", spec.late_after, kMaxDelay);
  check_span("jitter", spec.jitter, kMaxJitter);
  if (spec.catch_up < 1 || spec.catch_up > kMaxCatchUp) {
    refuse("catch_up " + std::to_string(spec.catch_up) + ": 1 to " + std::to_string(kMaxCatchUp) +
           " are allowed");
  }
  if (spec.overlap != Overlap::kAllow && options.unique_key) {
    refuse("unique_key: overlap '" + std::string(name_of(spec.overlap)) +
           "' uses the unique key itself; only overlap 'allow' permits one");
  }
  if (spec.tick_field) check_tick_field(*spec.tick_field, spec.payload);
}

void validate(const ScheduleSpec& spec, const QueueInfo& queue) {
  if (spec.overlap != Overlap::kAllow && queue.shape.placement == Placement::kOrdered) {
    refuse("overlap '" + std::string(name_of(spec.overlap)) + "': queue '" + queue.name +
           "' is ordered, so its tasks cannot have a unique key; they never overlap anyway");
  }
  validate(submission_of(spec, queue, Moment{}));
}

std::string overlap_key(const ScheduleSpec& spec) {
  return "allot-schedule:" + spec.name;
}

Submission submission_of(const ScheduleSpec& spec, const QueueInfo& queue, Moment tick) {
  Submission task{queue, spec.type, spec.payload, spec.options};
  if (spec.overlap != Overlap::kAllow) {
    task.options.unique_key = overlap_key(spec);
    task.options.unique_for = std::chrono::microseconds(0);
  }
  if (spec.tick_field) task.payload = with_tick(spec.payload, *spec.tick_field, tick);
  return task;
}

Moment due_at(const ScheduleSpec& spec, Moment tick) {
  if (spec.jitter.count() <= 0) return tick;
  const auto us = static_cast<std::uint64_t>(tick.time_since_epoch().count());
  return tick + std::chrono::microseconds(hash_of(spec.name, us) %
                                          static_cast<std::uint64_t>(spec.jitter.count()));
}

}  // namespace allot::queue
