// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "db/connection.h"
#include "queue/model/task.h"
#include "queue/submit/submit.h"

namespace allot::queue {

// Submits `task`, which an operator made from the task `of`, with the entry of the audit in the
// same transaction. Throws like submit().
Submitted submit_again(db::Connection& db, const TaskId& of, const Submission& task);

}  // namespace allot::queue
