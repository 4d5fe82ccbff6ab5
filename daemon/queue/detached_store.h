// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "db/connection.h"
#include "queue/lease.h"
#include "queue/task.h"
#include "queue/task_store.h"

namespace allot::queue {

// A task that runs outside of its partition. Epoch and holder are the fence of every write.
struct Detached {
  TaskId id;
  std::uint64_t epoch = 0;
  std::uint64_t holder = 0;
};

// A detached task of somebody, as one look at the table showed it.
struct DetachedSighting {
  TaskId id;
  std::uint32_t attempt = 0;  // the number of the attempt that runs
  std::string type;
  std::uint64_t epoch = 0;
  std::string expire_at;
  bool expired = false;                    // by the database's clock
  std::chrono::microseconds remaining{0};  // by the database's clock
  std::string holder;                      // "host/instance/pid", for the log
};

// The row of its history (C10), to be sent before it is acknowledged, in the same transaction.
[[nodiscard]] db::Statement keep_statement(const Detached& detached, const Usage& usage);

// The verbs on task_running. Each is one trip, may be repeated after a lost reply, and throws
// db::DbError. kLeaseGone of those that end a detached task says that it is not this holder's any
// more: somebody recovered it, or an earlier try whose reply was lost had ended it.
class DetachedStore {
 public:
  DetachedStore(const Holder& holder, std::chrono::microseconds ttl) : holder_(holder), ttl_(ttl) {}

  // What detach() makes of this task.
  [[nodiscard]] static Detached detached(const Lease& lease, const Task& task);

  // Moves the task, whose attempt number `attempt` runs, out of its partition, acknowledges what
  // its block has finished, and releases the partition.
  [[nodiscard]] Landed detach(db::Connection& db, const Lease& lease, const Task& task,
                              std::uint32_t attempt, std::span<const Finished> finished) const;

  // The same for one of several that run: the partition and its other tasks stay with the lease,
  // which must not see the task again once it came back (its epoch would be the same).
  [[nodiscard]] Landed detach_beside(db::Connection& db, const Lease& lease, const Task& task,
                                     std::uint32_t attempt) const;

  // False: it is not this holder's any more.
  bool renew(db::Connection& db, const Detached& detached) const;
  // The task as this holder has it.
  std::optional<Detached> held(db::Connection& db, const TaskId& id) const;

  // Further attempts start from `payload`.
  [[nodiscard]] static Landed checkpoint(db::Connection& db, const Detached& detached,
                                         std::string_view payload);

  // The ends. As in TaskStore, `attempt` is the number of the attempt that ended.
  [[nodiscard]] static Landed ack(db::Connection& db, const Detached& detached,
                                  const std::optional<Record>& record = std::nullopt);
  [[nodiscard]] static Landed retry(db::Connection& db, const Detached& detached,
                                    std::uint32_t attempt, std::chrono::microseconds delay,
                                    const Verdict& verdict);
  [[nodiscard]] static Landed bury(db::Connection& db, const Detached& detached,
                                   std::uint32_t attempt, const Verdict& verdict,
                                   const std::optional<OnDead>& on_dead = std::nullopt);
  // Charged, and the next attempt may start where the task stood (S10).
  [[nodiscard]] static Landed charge(db::Connection& db, const Detached& detached,
                                     std::uint32_t attempt, const Verdict& verdict);
  // Its worker died with several tasks: not charged, back to where it stood, and from then on alone
  // (kSuspectFlag).
  [[nodiscard]] static Landed suspect(db::Connection& db, const Detached& detached,
                                      std::uint32_t attempt);
  // Not charged: back to where it stood, or again after `delay`.
  [[nodiscard]] static Landed give_back(db::Connection& db, const Detached& detached,
                                        std::uint32_t attempt);
  [[nodiscard]] static Landed snooze(db::Connection& db, const Detached& detached,
                                     std::uint32_t attempt, std::chrono::microseconds delay);

  static std::vector<DetachedSighting> watch(db::Connection& db,
                                             std::span<const std::uint32_t> queues);
  // What a former life of this instance left behind (S11).
  [[nodiscard]] std::vector<DetachedSighting> former(db::Connection& db) const;
  // Makes a task whose holder stood still (S4) this holder's, to end it. `stale` as in
  // LeaseStore::take_over(). nullopt: it moved, or somebody was faster.
  [[nodiscard]] std::optional<Detached> recover(db::Connection& db,
                                                const DetachedSighting& sighting, bool stale) const;

 private:
  [[nodiscard]] db::Statement detach_statement(const Lease& lease, const Task& task,
                                               std::uint32_t attempt) const;
  [[nodiscard]] Landed landed(db::Connection& db, const Lease& lease, const Task& task,
                              std::uint64_t moved) const;

  const Holder& holder_;
  std::chrono::microseconds ttl_;
};

}  // namespace allot::queue
