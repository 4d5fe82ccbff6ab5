// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "db/connection.h"
#include "db/statement.h"
#include "queue/lease.h"
#include "queue/task.h"

namespace allot::queue {

// What somebody wants of a task that runs: its end.
struct CancelRequest {
  std::string reason;
  std::string asked_at;  // UTC, ISO 8601
};

std::optional<CancelRequest> find_cancel(db::Connection& db, const TaskId& id);

// True: the request stands, this one or an earlier one. `run_key` is where the task stands if it is
// not detached. False: it is neither detached nor attended in a leased partition.
bool ask_cancel(db::Connection& db, const TaskId& id, std::uint64_t run_key,
                std::string_view reason);

// Of the worker of a task that has run in its partition for a while: a cancel of it is a request
// from now on, and not a deletion. False: the lease is gone, or the task.
bool attend(db::Connection& db, const Lease& lease, const Task& task);
// Of a task that runs in its partition: the same look as find_cancel(), and whether it is there.
struct CancelLook {
  std::optional<CancelRequest> request;
  bool there = false;
};
CancelLook look_for_cancel(db::Connection& db, const Lease& lease, const Task& task);

// Takes away what was asked of tasks that have ended, in the transaction that ends them.
db::Statement clear_cancel_statement(Partition partition, std::span<const TaskKey> first_keys);

}  // namespace allot::queue
