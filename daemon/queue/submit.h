// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "db/connection.h"
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
};

// Keys end in 2167; retries of what is due last still need some years.
inline constexpr Moment kLastRunAt = std::chrono::sys_days(std::chrono::year(2150) / 1 / 1);
inline constexpr std::chrono::hours kMaxDelay{24 * 365 * 100};

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

// Throws Error(kExitBadInput) that names the field: type, payload, prio, delay, run_at.
void validate(const SubmitOptions& options);
void validate(const Submission& submission);

// Submits all or none, spread over the partitions of their queues (S18). Returns the ids in the
// order of `submissions`. Throws OutcomeUnknown when the reply was lost, any other Error when
// nothing was submitted. Never sends a batch again whose outcome is unknown.
std::vector<TaskId> submit(db::Connection& db, std::span<const Submission> submissions);

}  // namespace allot::queue
