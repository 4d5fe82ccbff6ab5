// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "db/connection.h"
#include "db/statement.h"
#include "queue/catalog.h"
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
};

// Keys end in 2167; retries of what is due last still need some years.
inline constexpr Moment kLastRunAt = std::chrono::sys_days(std::chrono::year(2150) / 1 / 1);
inline constexpr std::chrono::hours kMaxDelay{24 * 365 * 100};
inline constexpr std::size_t kMaxUniqueKey = 255;

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

// Throws Error(kExitBadInput) that names the field.
void validate(const SubmitOptions& options);
void validate(const Submission& submission);

// The statements of a submission that is part of somebody's transaction; spread as by submit(), and
// validated before. Each call has new salts.
std::vector<db::Statement> submit_statements(std::span<const Submission> submissions);

// Submits all or none, spread over the partitions of their queues (S18). In the order of
// `submissions`; of two with one unique key the second one existed. Throws OutcomeUnknown when the
// reply was lost, any other Error when nothing was submitted. Never sends a batch again whose
// outcome is unknown.
std::vector<Submitted> submit(db::Connection& db, std::span<const Submission> submissions);

}  // namespace allot::queue
