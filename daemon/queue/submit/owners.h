// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "db/connection.h"
#include "queue/submit/submit.h"

namespace allot::queue {

// State of the task that has a submission's unique key.
enum class Owner {
  kNone,     // no other task has it: the submission made a new one
  kWaiting,  // also for the first second of a run
  kRunning,
  kLive,      // waiting or running; the account may not read which
  kFinished,  // its key is still reserved
};

// "waiting", "running", "live", "done"; null for kNone.
const char* name_of(Owner owner);

// Owners of the keys of `submissions`, after submit() has made them. Costs one statement per queue
// where an existing task has a key, otherwise none. Never fails, because the submission has
// succeeded.
std::vector<Owner> owners(db::Connection& db, std::span<const Submission> submissions,
                          std::span<const Submitted> made);

}  // namespace allot::queue
