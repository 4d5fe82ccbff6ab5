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

// The success of a task that does more than delete its row: it submits tasks in its place, or
// commits its handler's own SQL in the open transaction. Both are fenced (S6), unlike a plain
// acknowledgement: all of it happens once, or nothing.
class Ending {
 public:
  // The arguments must outlive this object.
  Ending(const Lease& lease, const Task& task, const std::optional<Detached>& detached)
      : lease_(lease), task_(task), detached_(detached) {}

  // Uses a transaction of its own; may be repeated after a lost reply. Throws db::DbError.
  [[nodiscard]] Landed replace(db::Connection& db, std::span<const Submission> successors) const;

  // Adds to the open transaction of `db` and ends it: commits it or, with kLeaseGone and with any
  // error, rolls it back. Must not be repeated; after an error of class kGone landed() says what
  // became of it. Throws db::DbError.
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
