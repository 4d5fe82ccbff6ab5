// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "db/connection.h"
#include "queue/model/claim.h"
#include "queue/model/lease.h"
#include "queue/model/progress.h"
#include "queue/model/task.h"
#include "queue/verbs/block.h"
#include "queue/verbs/ending.h"

namespace allot::queue {

// Somebody's detached task, as one look at the table showed it.
struct DetachedObservation {
  TaskId id;
  std::uint32_t attempt = 0;  // the number of the attempt that runs
  std::string type;
  std::uint64_t epoch = 0;
  std::string expire_at;
  bool expired = false;                    // by the database's clock
  std::chrono::microseconds remaining{0};  // by the database's clock
  // How long it lasts without a renewal; nullopt: the row does not say.
  std::optional<std::chrono::microseconds> ttl;
  std::string holder;  // "host/instance/pid", for the log
  Headers headers{};
};

// How a task gets into task_running, is kept there, and gets another holder; queue/verbs/ending.h
// takes it out. Each verb is one trip, may be repeated after a lost reply, and throws db::DbError.
class DetachedStore {
 public:
  DetachedStore(const Holder& holder, std::chrono::microseconds ttl) : holder_(holder), ttl_(ttl) {}

  [[nodiscard]] const Holder& holder() const { return holder_; }

  // Moves the task, which runs attempt number `attempt`, out of its partition, acknowledges the
  // finished tasks of its block, and releases the partition. `claim` is that of before.
  [[nodiscard]] Fenced detach(db::Connection& db, const Claim& claim, std::uint32_t attempt,
                              std::span<const Finished> finished) const;

  // The same for one of several running tasks: the lease keeps the partition and its other tasks,
  // and must not see this task again if it comes back (its epoch would be the same).
  [[nodiscard]] Fenced detach_concurrent(db::Connection& db, const Claim& claim,
                                         std::uint32_t attempt) const;

  // Writes its progress as well. False: this holder does not have it any more.
  bool renew(db::Connection& db, const Claim& claim, const Progress& progress = {}) const;
  // The detached task as this holder has it.
  std::optional<Claim> held(db::Connection& db, const TaskId& id) const;

  static std::vector<DetachedObservation> watch(db::Connection& db,
                                                std::span<const std::uint32_t> queues);
  // The tasks that an earlier run of this instance left behind (S11).
  [[nodiscard]] std::vector<DetachedObservation> former(db::Connection& db) const;
  // How it is known that the holder of a task is gone.
  enum class Gone {
    kExpired,  // it stood still, and the database's clock says that its lease is over (S4)
    kStale,    // it stood still for longer than its lease lasts, whatever that clock says
    kFormer    // it was of this instance's earlier run
  };
  // Gives this holder such a task, to end it. nullopt: the task moved, or somebody was faster, or
  // the server is another one since a short while (S48).
  [[nodiscard]] std::optional<Claim> recover(db::Connection& db,
                                             const DetachedObservation& observed, Gone gone) const;

 private:
  [[nodiscard]] db::Statement detach_statement(const Claim& claim, std::uint32_t attempt) const;
  [[nodiscard]] Fenced send(db::Connection& db, const Claim& claim,
                            const std::vector<db::Statement>& statements) const;

  const Holder& holder_;
  std::chrono::microseconds ttl_;
};

}  // namespace allot::queue
