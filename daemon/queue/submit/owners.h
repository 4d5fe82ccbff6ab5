// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "db/connection.h"
#include "queue/submit/submit.h"

namespace allot::queue {

// Where the task is that has a submission's unique key.
enum class Owner {
  kNone,     // no other task has it: the submission made its own
  kWaiting,  // also for the first second in which it runs
  kRunning,
  kLive,      // waiting or running: the account may not read which
  kFinished,  // its key is taken for a while yet
};

// "waiting", "running", "live", "done"; null for kNone.
const char* name_of(Owner owner);

// The owners of what submit() made of `submissions`. Costs one statement for each queue where a
// live task has a key, and none otherwise. Never fails, because the submission has happened.
std::vector<Owner> owners(db::Connection& db, std::span<const Submission> submissions,
                          std::span<const Submitted> made);

}  // namespace allot::queue
