// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "db/connection.h"
#include "db/statement.h"
#include "queue/catalog.h"
#include "queue/task.h"

namespace allot::queue {

struct Submission {
  QueueInfo queue;
  std::string type;
  std::string payload;
  std::uint32_t prio = kDefaultPrio;
};

// The reply to a submission was lost: the tasks exist all, or none of them, and nobody here knows.
class OutcomeUnknown : public Error {
 public:
  explicit OutcomeUnknown(const std::string& message) : Error(message, kExitOutcomeUnknown) {}
};

// Throws Error(kExitBadInput) that names the field: type, payload size.
void validate(const Submission& submission);

// The statements of a submission that is part of somebody's transaction; spread as by submit(), and
// validated before. Each call has new salts.
std::vector<db::Statement> submit_statements(std::span<const Submission> submissions);

// Submits all or none, spread over the partitions of their queues (S18). Returns the ids in the
// order of `submissions`. Throws OutcomeUnknown when the reply was lost, any other Error when
// nothing was submitted. Never sends a batch again whose outcome is unknown.
std::vector<TaskId> submit(db::Connection& db, std::span<const Submission> submissions);

}  // namespace allot::queue
