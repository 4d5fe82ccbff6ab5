// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "queue/model/headers.h"

namespace allot::queue {

inline constexpr std::size_t kMaxPayload = (std::size_t{16} << 20) - 1;  // MEDIUMBLOB
inline constexpr unsigned kDefaultPrio = 1;
inline constexpr unsigned kPrioClasses = 4;

// The bit of `flags` of a task that may have taken its host or worker down. Until an attempt has
// ended other than by the death of its worker or host, each is written before it runs (S7).
inline constexpr std::uint32_t kSuspectFlag = 1;

// The bit of a task that was put back because no handler there knew its type (S65): for people
// only.
inline constexpr std::uint32_t kNoHandlerFlag = 128;

// The bit of a task that has a row in task_unique, which is stamped when it ends.
inline constexpr std::uint32_t kUniqueFlag = 2;

// The bit of a task that has run for a second, or was detached: its worker looks for requests to
// cancel it, and so does each worker that runs it again, before it starts.
inline constexpr std::uint32_t kCancelWatchedFlag = 64;

// The bit of a task that a hook submitted (C9): its own death triggers no hook.
inline constexpr std::uint32_t kHookFlag = 32;

// The keys begin in 2025, and 4096 of them are a microsecond.
inline constexpr std::int64_t kKeysBeginMs = 1'735'689'600'000;  // since 1970
inline constexpr std::uint64_t kKeysOfMs = std::uint64_t{1000} << 12;
// When a key is due, in milliseconds since 1970.
[[nodiscard]] constexpr std::int64_t due_ms(std::uint64_t run_key) {
  return static_cast<std::int64_t>(run_key / kKeysOfMs) + kKeysBeginMs;
}

struct Partition {
  std::uint32_t queue_id = 0;
  std::uint32_t partition_no = 0;
  auto operator<=>(const Partition&) const = default;
};

// Names a task inside its partition, always with the class (S3): two classes may share a run_key.
struct TaskKey {
  std::uint32_t prio = 0;
  std::uint64_t run_key = 0;
  auto operator<=>(const TaskKey&) const = default;
};

// What an attempt used, as far as somebody measured it.
struct Usage {
  std::optional<std::uint64_t> runtime_us{};
  std::optional<std::uint64_t>
      cpu_us{};  // of its worker meanwhile, and of children that it waited for
  std::optional<std::uint64_t> max_rss_kib{};  // the most until then of the worker, or a child
};

// The record of an attempt that succeeded, where its queue keeps a history (C10).
struct Record {
  std::string_view host;  // of the Holder, which outlives this
  std::uint32_t pid = 0;
  std::uint32_t attempt = 0;  // its number, from 1; 0: unknown, the next one of its row
  Usage usage{};
};

// A task as fetched from the head of a leased partition.
struct Task {
  TaskKey key;
  std::optional<std::uint64_t> first_key;  // set once the task has moved
  std::uint32_t attempt = 0;               // attempts charged so far
  std::uint32_t flags = 0;                 // kSuspectFlag, kUniqueFlag ...
  std::string type;
  std::size_t payload_size = 0;
  std::chrono::microseconds waited{0};  // from the time that it was due until the fetch
  // The time from the fetch until the task is dead unless it has begun.
  std::optional<std::chrono::microseconds> expires_in{};
  Headers headers{};
  std::optional<Record> record{};      // after its success, in a queue with a history
  std::optional<std::string> payload;  // large ones are fetched alone, right before they run (S19)

  [[nodiscard]] std::uint64_t id_key() const { return first_key.value_or(key.run_key); }
};

// The public id of a task: valid as long as the task exists, wherever retries move it.
struct TaskId {
  Partition partition;
  std::uint32_t prio = 0;
  std::uint64_t first_key = 0;
  auto operator<=>(const TaskId&) const = default;

  // One short word of Crockford's base 32, lower case, e.g. "0840dqg2v5n80r00".
  [[nodiscard]] std::string text() const;
  // When the task was due as its id was made: UTC, ISO 8601. That is when it was submitted, or, if
  // it was submitted for later, that time.
  [[nodiscard]] std::string first_due() const;
  // nullopt when the word is no id.
  static std::optional<TaskId> parse(std::string_view text);
};

// True for 1 to kMaxQueueName bytes of [A-Za-z0-9._-]: a name of a queue or a schedule.
[[nodiscard]] bool is_name(std::string_view word);
// The same with up to kMaxTypeName bytes: a type, and what a prefix of types begins with.
[[nodiscard]] bool is_type(std::string_view word);

}  // namespace allot::queue
