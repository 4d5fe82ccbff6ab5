// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "db/connection.h"
#include "queue/detached_store.h"
#include "queue/lease.h"
#include "queue/submit.h"
#include "queue/task.h"
#include "queue/task_store.h"

namespace allot::queue {

// The success of a task that does more than delete its row: tasks are submitted in its place, or
// its handler's own SQL stands in the open transaction. Both are fenced (S6), as a plain
// acknowledgement need not be: all of it happens, once, or nothing.
class Ending {
 public:
  // What it points to outlives this.
  Ending(const Lease& lease, const Task& task, const std::optional<Detached>& detached)
      : lease_(lease), task_(task), detached_(detached) {}

  // In a transaction of its own; may be repeated after a lost reply. Throws db::DbError.
  [[nodiscard]] Landed replace(db::Connection& db, std::span<const Submission> successors) const;

  // Behind what stands in the transaction of `db`, which is over then: committed, or, with
  // kLeaseGone and with any error, rolled back. Not to be repeated; after an error of class kGone
  // landed() tells what became of it. Throws db::DbError.
  [[nodiscard]] Landed commit(db::Connection& db, std::span<const Submission> successors) const;
  [[nodiscard]] bool landed(db::Connection& db) const;

 private:
  [[nodiscard]] db::Statement require() const;
  [[nodiscard]] std::vector<db::Statement> end() const;
  [[nodiscard]] Landed gone(db::Connection& db) const;

  const Lease& lease_;
  const Task& task_;
  const std::optional<Detached>& detached_;  // it left its partition
};

}  // namespace allot::queue
