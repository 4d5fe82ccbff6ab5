// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "db/connection.h"
#include "db/statement.h"
#include "queue/catalog.h"
#include "queue/compression.h"
#include "queue/task.h"

namespace allot::queue {

using Moment = std::chrono::sys_time<std::chrono::microseconds>;

// What a submitter may ask for beside queue, type and payload. The names are those of the flags of
// `allot submit` and of the fields of its NDJSON.
struct SubmitOptions {
  std::uint32_t prio = kDefaultPrio;
  // When it may start at the earliest, by the database's clock: so long after its submission, or
  // then. A moment that has passed is now.
  std::chrono::microseconds delay{0};
  std::optional<Moment> run_at{};
  // At most one task of the queue has this key: from its submission until so long after its end. A
  // submission that comes meanwhile is answered with that task. 1 to 255 bytes.
  std::optional<std::string> unique_key{};
  std::chrono::microseconds unique_for = std::chrono::minutes(5);
  // What its queue places it by, unless that is spread: its tasks run in order, are limited to
  // max_running at a time, or have their fair share. 1 to 255 bytes.
  std::optional<std::string> partition_key{};
  // One that has not begun so long after its submission, or by then, is dead.
  std::chrono::microseconds expires_in{0};  // 0: never
  std::optional<Moment> expires_at{};
  // A payload of more bytes is compressed. Nothing, or 0: never.
  std::optional<std::uint64_t> compress_above{};
  // How the payload is compressed already.
  Compression compression = Compression::kNone;
};

// Keys end in 2167; retries of what is due last still need some years.
inline constexpr Moment kLastRunAt = std::chrono::sys_days(std::chrono::year(2150) / 1 / 1);
inline constexpr std::chrono::hours kMaxDelay{24 * 365 * 100};
inline constexpr std::size_t kMaxUniqueKey = 255;
inline constexpr std::size_t kMaxPartitionKey = 255;

struct Submission {
  QueueInfo queue;
  std::string type;
  std::string payload;
  SubmitOptions options{};
};

// The reply to a submission was lost: the tasks exist all, or none of them, and nobody here knows.
class OutcomeUnknown : public Error {
 public:
  explicit OutcomeUnknown(const std::string& message) : Error(message, kExitOutcomeUnknown) {}
};

struct Submitted {
  TaskId id;
  bool existed = false;  // its unique key was taken: this is the task that has it
};

// Throws Error(kExitBadInput) that names the field. The second one knows the queue: whether it
// takes such a task.
void validate(std::string_view type, std::string_view payload, const SubmitOptions& options);
void validate(const Submission& submission);

// The statements of a submission that is part of the transaction of `db`; placed as by submit(),
// and validated before. Each call has new salts.
std::vector<db::Statement> submit_statements(db::Connection& db,
                                             std::span<const Submission> submissions);

// Submits all or none, each to its partition, or spread over the partitions of their queues (S18).
// In the order of `submissions`; of two with one unique key the second one existed. Throws
// OutcomeUnknown when the reply was lost, any other Error when nothing was submitted. Never sends a
// batch again whose outcome is unknown.
std::vector<Submitted> submit(db::Connection& db, std::span<const Submission> submissions);

}  // namespace allot::queue
