// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace allot {

using Moment = std::chrono::sys_time<std::chrono::microseconds>;

// Compression of a payload in the database. Handlers see it uncompressed.
enum class Compression { kNone, kGzip, kZstd };

// Optional fields of a submission. The names are the same here, in the flags of `allot submit` and
// in its NDJSON fields. Append-only: a new field comes last, with a default that keeps the old
// behaviour.
struct SubmitOptions {
  // Priority class, 0 to 3: within a partition lower classes run first.
  std::uint32_t prio = 1;
  // Earliest start, by the database's clock: this delay after the submission, or this moment. A
  // moment in the past means now.
  std::chrono::microseconds delay{0};
  std::optional<Moment> run_at{};
  // At most one task of the queue has this key, from its submission until this long after it has
  // finished; the key of a dead or cancelled task is free at once. A submission with a taken key
  // returns the id of the existing task. 1 to 255 bytes.
  std::optional<std::string> unique_key{};
  std::chrono::microseconds unique_for = std::chrono::minutes(5);
  // Selects the partition, unless the queue is spread: the tasks of a key run in order, at most
  // max_running at a time, or with a fair share. 1 to 255 bytes.
  std::optional<std::string> partition_key{};
  // A task that has not started this long after its submission (0: no limit), or by this moment, is
  // dead.
  std::chrono::microseconds expires_in{0};
  std::optional<Moment> expires_at{};
  // Payload size above which it is compressed. nullopt or 0: never.
  std::optional<std::uint64_t> compress_above{};
  // Compression already applied to the payload.
  Compression compression = Compression::kNone;
  // Limit of attempts, 1 to 100000; overrides the task's type and queue.
  std::optional<std::uint32_t> max_attempts{};
  // Limit of attempts lost with their worker or host, 1 to 100000, counted separately from
  // max_attempts; one more loss makes the task dead. For handlers whose verdict matters even when
  // their worker stops. nullopt: a loss counts as any other attempt.
  std::optional<std::uint32_t> max_losses{};
  // Name in log, metrics and minutes instead of the type: 1 to 127 printable ASCII characters.
  // Empty: the type.
  std::string label{};
  // The task's trace in W3C Trace Context form. Invalid values are dropped, and the task is
  // submitted without them.
  std::string traceparent{};
  std::string tracestate{};
  // Time limit of an attempt, 1 s to 720 h; overrides the task's type.
  std::optional<std::chrono::milliseconds> time_limit{};

  bool operator==(const SubmitOptions&) const = default;
};

}  // namespace allot
