// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace allot {

using Moment = std::chrono::sys_time<std::chrono::microseconds>;

// How a payload is written in the database. Handlers see it uncompressed.
enum class Compression { kNone, kGzip, kZstd };

// What a submitter may set beside queue, type and payload: the names are the same here, in the
// flags of `allot submit` and in the fields of its NDJSON. The struct is append-only: a new field
// comes last, with a default that keeps the former behaviour.
struct SubmitOptions {
  // The task's class, 0 to 3: within a partition lower classes run first.
  std::uint32_t prio = 1;
  // When the task may start at the earliest, by the database's clock: this long after its
  // submission, or at this moment. A moment in the past means now.
  std::chrono::microseconds delay{0};
  std::optional<Moment> run_at{};
  // At most one task of the queue has this key, from its submission until this long after it has
  // finished; when it is dead or cancelled, the key is free at once. A submission that comes
  // meanwhile gets that task's id. 1 to 255 bytes.
  std::optional<std::string> unique_key{};
  std::chrono::microseconds unique_for = std::chrono::minutes(5);
  // Decides the partition, unless the queue is spread: the tasks of a key run in order, at most
  // max_running at a time, or with a fair share. 1 to 255 bytes.
  std::optional<std::string> partition_key{};
  // A task that has not begun this long after its submission (0: it may wait for ever), or by this
  // moment, is dead.
  std::chrono::microseconds expires_in{0};
  std::optional<Moment> expires_at{};
  // A larger payload is compressed. Nothing, or 0: never.
  std::optional<std::uint64_t> compress_above{};
  // The compression that the payload already has.
  Compression compression = Compression::kNone;
  // How often the task may be tried, 1 to 100000, whatever its type or queue says.
  std::optional<std::uint32_t> max_attempts{};
  // So many attempts may be lost with their worker or its host, 1 to 100000, apart from
  // max_attempts that end with a verdict: for handlers whose verdict counts, also when its worker
  // stops. One more loss is the end of the task. Nothing: a loss counts as any other attempt.
  std::optional<std::uint32_t> max_losses{};
  // What log, metrics and minutes call the task in place of its type: 1 to 127 printable characters
  // of ASCII. Empty: its type.
  std::string label{};
  // The trace that the task belongs to, as W3C Trace Context writes it. What is not valid is left
  // out, and the task is submitted without.
  std::string traceparent{};
  std::string tracestate{};
  // How long an attempt of the task may run, 1 s to 720 h, whatever its type says.
  std::optional<std::chrono::milliseconds> time_limit{};

  bool operator==(const SubmitOptions&) const = default;
};

}  // namespace allot
