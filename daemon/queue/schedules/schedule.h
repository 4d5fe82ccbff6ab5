// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "queue/submit/submit.h"

// A schedule as stored in the database. daemon/schedule interprets expressions; no calendar is
// computed here.
namespace allot::queue {

inline constexpr std::size_t kMaxScheduleName = 63;
inline constexpr std::size_t kMaxExpression = 255;
inline constexpr std::size_t kMaxZone = 63;
inline constexpr std::uint32_t kMaxCatchUp = 1000;

// Policy for ticks that are more than late_after late.
enum class Late { kOnce, kSkip, kAll };
// Policy for a tick while the task of an earlier one has not finished.
enum class Overlap { kAllow, kSkip, kWait };
[[nodiscard]] std::string_view name_of(Late late);        // "once"
[[nodiscard]] std::string_view name_of(Overlap overlap);  // "allow"
[[nodiscard]] std::optional<Late> late_of(std::string_view name);
[[nodiscard]] std::optional<Overlap> overlap_of(std::string_view name);

// Definition of a schedule by a person: in a command, a file, or a section of the configuration.
struct ScheduleSpec {
  std::string name;        // [A-Za-z0-9._-]{1,63}
  std::string expression;  // see schedule/expression.h
  std::string zone = "UTC";
  std::string queue;
  std::string type;
  std::string payload;
  // Kept: prio, delay, unique_key, unique_for, partition_key and expires_in; the others must have
  // the values below.
  SubmitOptions options{};
  Late late = Late::kOnce;
  std::chrono::microseconds late_after = std::chrono::seconds(60);
  std::uint32_t catch_up = 100;  // 1 to kMaxCatchUp
  Overlap overlap = Overlap::kAllow;
  std::chrono::microseconds jitter{0};
  std::optional<std::string> tick_field{};
  bool operator==(const ScheduleSpec&) const = default;
};

struct Schedule {
  std::uint32_t schedule_id = 0;
  std::uint64_t version = 0;
  ScheduleSpec spec;
  std::optional<Moment> next_run{};  // nullopt: no tick will ever come
  std::optional<Moment> due_at{};    // next_run plus its jitter
  std::optional<Moment> resumed_at{};
  std::optional<Moment> paused_at{};
  std::string pause_reason{};
  std::optional<Moment> last_run{};
  std::string last_task{};  // its public id; empty: none yet
  std::uint64_t ticks = 0;
  std::uint64_t submitted = 0;
  std::uint64_t skipped = 0;
  std::uint64_t dropped = 0;
  std::string error{};  // empty: no error
  std::optional<Moment> error_since{};
  std::optional<std::uint64_t> applied{};
  std::uint32_t revision = 0;
};

struct ScheduleTick {
  std::uint64_t tick_no = 0;
  Moment tick{};
  Moment at{};
  std::string task{};    // its public id; empty: none
  std::string reason{};  // why it has none; "run now": by run_schedule_now()
};

// All checks of a spec that need neither the database nor a calendar: names, limits, a tick_field
// without a JSON object, an overlap together with a unique key. Throws Error(kExitBadInput) that
// names the field. Code that makes a schedule also parses its expression and checks its zone.
void validate(const ScheduleSpec& spec);
// Checks the spec's submissions against the queue's placement, likewise.
void validate(const ScheduleSpec& spec, const QueueInfo& queue);

// Task of one tick. Its unique key is the spec's or, if overlap is not allowed, overlap_key(),
// which is free once that task has finished.
[[nodiscard]] Submission submission_of(const ScheduleSpec& spec, const QueueInfo& queue,
                                       Moment tick);
[[nodiscard]] std::string overlap_key(const ScheduleSpec& spec);

// When the tick is due: later by less than the jitter, by a hash of name and tick, so that all
// hosts compute the same time.
[[nodiscard]] Moment due_at(const ScheduleSpec& spec, Moment tick);

}  // namespace allot::queue
