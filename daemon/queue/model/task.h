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

// The bit of `flags` of a task that may have crashed its host or worker. Each of its attempts is
// recorded before it runs (S7), until one ends other than by the death of its worker or host.
inline constexpr std::uint32_t kSuspectFlag = 1;

// The bit of a task that was put back because no handler of that worker knew its type (S65): for
// people only.
inline constexpr std::uint32_t kNoHandlerFlag = 128;

// The bit of a task that has a row in task_unique, which is stamped when it ends.
inline constexpr std::uint32_t kUniqueFlag = 2;

// The bit of a task that has run for a second or was detached: its worker polls for requests to
// cancel it, and each later worker checks for one before it starts the task.
inline constexpr std::uint32_t kCancelWatchedFlag = 64;

// The bit of a task that a hook submitted (C9): its own death triggers no hook.
inline constexpr std::uint32_t kHookFlag = 32;

// Keys count from 2025, 4096 per microsecond.
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

// Names a task within its partition, always with the class (S3): two classes may share a run_key.
struct TaskKey {
  std::uint32_t prio = 0;
  std::uint64_t run_key = 0;
  auto operator<=>(const TaskKey&) const = default;
};

// Resources that an attempt used, as far as they were measured.
struct Usage {
  std::optional<std::uint64_t> runtime_us{};
  std::optional<std::uint64_t>
      cpu_us{};  // of its worker during the attempt, and of children that it waited for
  std::optional<std::uint64_t> max_rss_kib{};  // maximum so far of the worker or a child
};

// Progress of a task as its handler reports it, for people.
struct Progress {
  static constexpr std::size_t kMostWord = 47;  // bytes; fits the slot and the column
  std::optional<std::uint32_t> percent{};       // nullopt: not reported
  std::string word{};

  bool operator==(const Progress&) const = default;
};

// Record of a successful attempt, if its queue keeps a history (C10).
struct Record {
  std::string_view host;  // of the Holder, which outlives this
  std::uint32_t pid = 0;
  std::uint32_t attempt = 0;  // its number, from 1; 0: unknown, one more than its row
  Usage usage{};
};

// A task as fetched from the head of a leased partition.
struct Task {
  TaskKey key;
  std::optional<std::uint64_t> first_key;  // set after the task has moved
  std::uint32_t attempt = 0;               // attempts charged so far
  std::uint32_t flags = 0;                 // kSuspectFlag, kUniqueFlag ...
  std::string type;
  std::size_t payload_size = 0;
  std::chrono::microseconds waited{0};  // from its due time until the fetch
  // From the fetch until the task expires unless it has started.
  std::optional<std::chrono::microseconds> expires_in{};
  Headers headers{};
  std::optional<Record> record{};      // set after its success, in a queue with a history
  std::optional<std::string> payload;  // fetched separately if large, right before it runs (S19)

  [[nodiscard]] std::uint64_t id_key() const { return first_key.value_or(key.run_key); }
};

// UTC, ISO 8601: "2026-11-23T20:00:00.000000Z".
[[nodiscard]] std::string precise_text(std::chrono::sys_time<std::chrono::microseconds> moment);
// The same without microseconds if they are 0: "2026-11-23T20:00:00Z".
[[nodiscard]] std::string moment_text(std::chrono::sys_time<std::chrono::microseconds> moment);

// Public id of a task: valid as long as the task exists, also after retries move it.
struct TaskId {
  Partition partition;
  std::uint32_t prio = 0;
  std::uint64_t first_key = 0;
  auto operator<=>(const TaskId&) const = default;

  // One word of Crockford's base 32, lower case, e.g. "0840dqg2v5n80r00".
  [[nodiscard]] std::string text() const;
  // Due time of the task when its id was made: UTC, ISO 8601. This is the time of submission, or
  // the later time that it was submitted for.
  [[nodiscard]] std::string first_due() const;
  // nullopt if the word is not an id.
  static std::optional<TaskId> parse(std::string_view text);
};

// True for 1 to kMaxQueueName bytes of [A-Za-z0-9._-]: the name of a queue or a schedule.
[[nodiscard]] bool is_name(std::string_view word);
// The same with up to kMaxTypeName bytes: a type, or the prefix of a type pattern.
[[nodiscard]] bool is_type(std::string_view word);

}  // namespace allot::queue
