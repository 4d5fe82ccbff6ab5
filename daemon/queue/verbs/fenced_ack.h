// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "db/connection.h"
#include "queue/model/fence.h"
#include "queue/model/task.h"
#include "queue/submit/submit.h"
#include "queue/verbs/ending.h"

namespace allot::queue {

// Success of a task that does more than delete its row: it submits tasks in its place, or commits
// its handler's own SQL in the open transaction. Both are fenced (S6), unlike a plain
// acknowledgement: all or nothing, once.
class FencedAck {
 public:
  // `task` must outlive this object.
  FencedAck(const Fence& fence, const Task& task) : claim_(fence), task_(task) {}

  // Uses its own transaction; may be repeated after a lost reply. Throws db::DbError, and Error if
  // a queue refuses a task.
  [[nodiscard]] Fenced replace(db::Connection& db, std::span<const Submission> successors) const;

  // Adds to the open transaction of `db` and ends it: commits it or, with kLost, rolls it back. On
  // an exception the caller ends it. Must not be repeated; after an error of class kGone landed()
  // reports the outcome. Throws db::DbError, and Error if a queue refuses a task.
  [[nodiscard]] Fenced commit(db::Connection& db, std::span<const Submission> successors) const;
  [[nodiscard]] bool landed(db::Connection& db) const;

 private:
  [[nodiscard]] db::Statement require() const;
  [[nodiscard]] std::vector<db::Statement> end() const;

  const Fence claim_;
  const Task& task_;
};

}  // namespace allot::queue
