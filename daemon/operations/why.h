// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "db/connection.h"
#include "host/instance_view.h"
#include "queue/model/task_facts.h"
#include "queue/verbs/cancel_request.h"

// Explains in words why a task is not running, or where it runs.
namespace allot::operations {

// Cause and error of a dead task, as one line of at most `most` bytes.
[[nodiscard]] std::string why_dead(const queue::TaskView& task, std::size_t most);

// The request to cancel a running task, as one line.
[[nodiscard]] std::string cancel_text(const queue::CancelRequest& request);

// The task and the reasons why it is not running, or the place where it runs. `queue` is the name
// of its queue. Throws Error if the partition of the task does not exist.
[[nodiscard]] nlohmann::json explain(db::Connection& db, const host::LocalProcesses& local,
                                     const queue::TaskView& task, const std::string& queue);

}  // namespace allot::operations
