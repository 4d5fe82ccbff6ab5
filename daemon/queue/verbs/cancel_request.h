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

// Somebody's request to end a running task.
struct CancelRequest {
  std::string reason;
  std::string asked_at;  // UTC, ISO 8601
  bool as_done = false;  // its end counts as a success: no dead letter, no hook
};

std::optional<CancelRequest> find_cancel(db::Connection& db, const TaskId& id);
// Those of several tasks, in their order and in one packet.
std::vector<std::optional<CancelRequest>> find_cancels(db::Connection& db,
                                                       std::span<const TaskId> ids);

// The worker of a task calls this once the task has run in its partition for a while: from now on a
// cancel makes a request, and deletes nothing. False: the lease is gone, or the task.
bool watch_cancel(db::Connection& db, const Lease& lease, const Task& task);
// What find_cancel() finds for a task that runs in its partition, and whether the task still
// exists.
struct CancelLook {
  std::optional<CancelRequest> request;
  bool there = false;
};
CancelLook look_for_cancel(db::Connection& db, const Lease& lease, const Task& task);

// Deletes the requests for tasks that have ended, in the transaction that ends them.
db::Statement clear_cancel_statement(Partition partition, std::span<const TaskKey> first_keys);

}  // namespace allot::queue
