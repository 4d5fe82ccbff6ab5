// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "db/connection.h"
#include "queue/model/fence.h"
#include "queue/model/lease.h"
#include "queue/model/task.h"
#include "queue/verbs/block.h"
#include "queue/verbs/ending.h"

namespace allot::queue {

// A detached task of another holder.
struct DetachedObservation : ObservedTerm {
  TaskId id;
  std::uint32_t attempt = 0;  // number of the running attempt
  std::string type;
  Headers headers{};

  [[nodiscard]] const TaskId& key() const { return id; }
};

// Moves tasks into task_running, keeps them there, and changes their holder; queue/verbs/ending.h
// takes them out. Each verb is one trip, may be repeated after a lost reply, and throws
// db::DbError.
class DetachedStore {
 public:
  DetachedStore(const Holder& holder, std::chrono::microseconds ttl) : holder_(holder), ttl_(ttl) {}

  [[nodiscard]] const Holder& holder() const { return holder_; }

  // Moves the task, which runs attempt number `attempt`, out of its partition, and acknowledges the
  // finished tasks of its block. `fence` is the fence before the move. A lease that is kept, for
  // other running tasks, must not take this task again if it comes back (its epoch would be the
  // same).
  [[nodiscard]] Fenced detach(db::Connection& db, const Fence& fence, std::uint32_t attempt,
                              std::span<const Finished> finished, Then then = Then::kRelease) const;
  // Also writes its progress. False: this holder has lost the task.
  bool renew(db::Connection& db, const Fence& fence, const Progress& progress = {}) const;
  // The fence of this holder on the detached task.
  std::optional<Fence> held(db::Connection& db, const TaskId& id) const;

  static std::vector<DetachedObservation> watch(db::Connection& db,
                                                std::span<const std::uint32_t> queues);
  // Tasks left by an earlier run of this instance (S11).
  [[nodiscard]] std::vector<DetachedObservation> former(db::Connection& db) const;
  // Evidence that the holder of a task is gone.
  enum class Gone {
    kExpired,  // unchanged, and expired by the database's clock (S4)
    kStale,    // unchanged for longer than its lease lasts, whatever that clock says
    kFormer    // left by an earlier run of this instance
  };
  // Gives such a task to this holder, to end it. nullopt: the task moved, another holder was
  // faster, or the server has changed recently (S48).
  [[nodiscard]] std::optional<Fence> recover(db::Connection& db,
                                             const DetachedObservation& observed, Gone gone) const;

 private:
  [[nodiscard]] db::Statement detach_statement(const Fence& fence, std::uint32_t attempt) const;

  const Holder& holder_;
  std::chrono::microseconds ttl_;
};

}  // namespace allot::queue
