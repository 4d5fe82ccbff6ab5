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
  HolderTime time{};
};

// Somebody's detached task, as one look at the table showed it.
struct DetachedSighting {
  TaskId id;
  std::uint32_t attempt = 0;  // the number of the attempt that runs
  std::string type;
  std::uint64_t epoch = 0;
  std::string expire_at;
  bool expired = false;                    // by the database's clock
  std::chrono::microseconds remaining{0};  // by the database's clock
  // How long it lasts without a renewal; nullopt: an older Allot did not say.
  std::optional<std::chrono::microseconds> ttl;
  std::string holder;  // "host/instance/pid", for the log
};

// Keeps the task in the history (C10): send it before the acknowledgement, in the same transaction.
[[nodiscard]] db::Statement keep_statement(const Detached& detached, const Usage& usage);

// The verbs on task_running. Each is one trip, may be repeated after a lost reply, and throws
// db::DbError. From a verb that ends a detached task, kLeaseGone says that this holder does not
// have it any more: another one recovered it, or an earlier try whose reply was lost had ended it.
class DetachedStore {
 public:
  DetachedStore(const Holder& holder, std::chrono::microseconds ttl) : holder_(holder), ttl_(ttl) {}

  // What detach() turns this task into.
  [[nodiscard]] static Detached detached(const Lease& lease, const Task& task);

  // Moves the task, which runs attempt number `attempt`, out of its partition, acknowledges the
  // finished tasks of its block, and releases the partition.
  [[nodiscard]] Landed detach(db::Connection& db, const Lease& lease, const Task& task,
                              std::uint32_t attempt, std::span<const Finished> finished) const;

  // The same for one of several running tasks: the lease keeps the partition and its other tasks,
  // and must not see this task again if it comes back (its epoch would be the same).
  [[nodiscard]] Landed detach_beside(db::Connection& db, const Lease& lease, const Task& task,
                                     std::uint32_t attempt) const;

  // False: this holder does not have it any more.
  bool renew(db::Connection& db, const Detached& detached) const;
  // The task as this holder has it.
  std::optional<Detached> held(db::Connection& db, const TaskId& id) const;

  // Further attempts start from `state`.
  [[nodiscard]] static Landed checkpoint(db::Connection& db, const Detached& detached,
                                         const StoredState& state);

  // The verbs that end it. As in TaskStore, `attempt` is the number of the attempt that ended.
  [[nodiscard]] static Landed ack(db::Connection& db, const Detached& detached,
                                  const std::optional<Record>& record = std::nullopt);
  [[nodiscard]] static Landed retry(db::Connection& db, const Detached& detached,
                                    std::uint32_t attempt, std::chrono::microseconds delay,
                                    const Verdict& verdict);
  [[nodiscard]] static Landed bury(db::Connection& db, const Detached& detached,
                                   std::uint32_t attempt, const Verdict& verdict,
                                   const std::optional<OnDead>& on_dead = std::nullopt);
  // Charges the attempt; the next one may start where the task was (S10).
  [[nodiscard]] static Landed charge(db::Connection& db, const Detached& detached,
                                     std::uint32_t attempt, const Verdict& verdict);
  // Its worker died with several tasks: charges nothing, puts the task back where it was, and flags
  // it to run alone from then on (kSuspectFlag).
  [[nodiscard]] static Landed suspect(db::Connection& db, const Detached& detached,
                                      std::uint32_t attempt);
  // Charges nothing: puts the task back where it was, or lets it run again after `delay`.
  [[nodiscard]] static Landed give_back(db::Connection& db, const Detached& detached,
                                        std::uint32_t attempt);
  [[nodiscard]] static Landed snooze(db::Connection& db, const Detached& detached,
                                     std::uint32_t attempt, std::chrono::microseconds delay);

  static std::vector<DetachedSighting> watch(db::Connection& db,
                                             std::span<const std::uint32_t> queues);
  // The tasks that an earlier run of this instance left behind (S11).
  [[nodiscard]] std::vector<DetachedSighting> former(db::Connection& db) const;
  // Gives this holder a task whose holder stood still (S4), to end it. `stale` as in
  // LeaseStore::take_over(). nullopt: the task moved, or somebody was faster.
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
