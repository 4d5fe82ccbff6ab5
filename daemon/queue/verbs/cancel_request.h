// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "db/connection.h"
#include "db/statement.h"
#include "queue/model/lease.h"
#include "queue/model/task.h"

namespace allot::queue {

// A request to end a running task.
struct CancelRequest {
  std::string reason;
  std::string requested_at;  // UTC, ISO 8601
  bool as_done = false;      // its end counts as a success: no dead letter, no hook
};

std::optional<CancelRequest> find_cancel(db::Connection& db, const TaskId& id);
// Requests for several tasks, in their order and in one packet.
std::vector<std::optional<CancelRequest>> find_cancels(db::Connection& db,
                                                       std::span<const TaskId> ids);

// Called by the worker of a task that has run in its partition for some time: from now on a cancel
// makes a request and deletes nothing. False: the lease or the task is gone.
bool watch_cancel(db::Connection& db, const Lease& lease, const Task& task);
// Result of find_cancel() for a task that runs in its partition, and whether the task still exists.
struct CancelCheck {
  std::optional<CancelRequest> request;
  bool there = false;
};
CancelCheck check_cancel(db::Connection& db, const Lease& lease, const Task& task);

// Deletes the requests for ended tasks, in the transaction that ends them.
db::Statement clear_cancel_statement(Partition partition, std::span<const TaskKey> first_keys);

}  // namespace allot::queue
