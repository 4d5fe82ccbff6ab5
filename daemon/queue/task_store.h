// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "db/connection.h"
#include "queue/compression.h"
#include "queue/hook.h"
#include "queue/lease.h"
#include "queue/lease_store.h"
#include "queue/task.h"

namespace allot::queue {

// The result of a fenced write.
enum class Landed {
  kYes,       // written, now or by an earlier try whose reply was lost
  kLeaseGone  // nothing was written: another worker has the partition
};

// A finished task, as the acknowledgement needs it.
struct Finished {
  TaskKey key;
  std::optional<std::uint64_t> first_key;  // only for tasks that were tried before
  bool unique = false;                     // it has a row in task_unique
  bool attended = false;                   // a request to cancel it may be there
  std::optional<Record> record{};          // for its queue's history
};

[[nodiscard]] inline Finished finished(const Task& task) {
  return {task.key, task.attempt > 0 ? std::optional(task.id_key()) : task.first_key,
          (task.flags & kUniqueFlag) != 0, (task.flags & kAttendedFlag) != 0, task.record};
}

// Whether a write also ends the lease, in the same transaction.
enum class Then { kKeepLease, kRelease };

// Why an attempt ended, for people: a short word and a text.
struct Verdict {
  std::string_view cause;  // retry, fail, exception, signal, exit, timeout, lease, lost
  std::string_view error;
  Usage usage{};
};

// A burial that a hook reports.
struct Death {
  const OnDead& hook;
  std::uint32_t attempt;
  const Verdict& verdict;
};

// The verdict on an attempt whose end nobody reported.
inline constexpr Verdict kLost{"lost",
                               "no verdict came back: its host went down or its lease was lost"};

db::Statement fetch_statement(Partition partition, const FetchSpec& spec);
std::vector<Task> read_tasks(db::StatementResult& rows);

// The verbs on the tasks of a leased partition. Each is one trip, may be repeated after a lost
// reply, and throws db::DbError.
class TaskStore {
 public:
  // The effect of the end of an attempt on the task's count of attempts, and on its flags.
  struct Mark {
    std::uint32_t at_least;  // others may have charged more meanwhile
    std::uint32_t at_most;
    std::uint32_t keep_flags;
  };

  explicit TaskStore(const Holder& holder) : holder_(holder) {}
  [[nodiscard]] const Holder& holder() const { return holder_; }

  static std::vector<Task> fetch(db::Connection& db, Partition partition, const FetchSpec& spec);
  // nullopt when the row is gone.
  static std::optional<std::string> fetch_payload(db::Connection& db, Partition partition,
                                                  TaskKey key);

  // Deletes finished tasks. Needs no lease (S6).
  static void ack(db::Connection& db, Partition partition, std::span<const Finished> finished);
  // The same, and the next block in the same trip.
  static std::vector<Task> ack_and_fetch(db::Connection& db, Partition partition,
                                         std::span<const Finished> finished, const FetchSpec& spec);
  // The same, and ends the lease in the same transaction; the partition then waits for `hold`.
  // False: the lease was gone already.
  static bool ack_and_release(db::Connection& db, const Lease& lease,
                              std::span<const Finished> finished, const Hold& hold = {});

  // Attempt number `attempt` (from 1) ended: the next one comes after `delay`, at most a century.
  [[nodiscard]] Landed retry(db::Connection& db, const Lease& lease, const Task& task,
                             std::uint32_t attempt, std::chrono::microseconds delay,
                             const Verdict& verdict, Then then = Then::kKeepLease) const;
  // Attempt number `attempt` was the last one: moves the task into task_dead, together with
  // `on_dead`.
  [[nodiscard]] Landed bury(db::Connection& db, const Lease& lease, const Task& task,
                            std::uint32_t attempt, const Verdict& verdict,
                            Then then = Then::kKeepLease,
                            const std::optional<OnDead>& on_dead = std::nullopt) const;
  // Attempt number `attempt` ended, and the next one may start where the task is (S10); if the
  // lease ends too, not before `pause` is over (S16).
  [[nodiscard]] Landed charge(db::Connection& db, const Lease& lease, const Task& task,
                              std::uint32_t attempt, const Verdict& verdict,
                              Then then = Then::kKeepLease,
                              std::chrono::microseconds pause = std::chrono::microseconds(0)) const;
  // Writes an attempt before it starts (S7), as lost: this record stays if no verdict follows.
  [[nodiscard]] Landed announce(db::Connection& db, const Lease& lease, const Task& task,
                                std::uint32_t attempt) const;
  // Makes further attempts start from `state`. kLeaseGone also when the task is not in the
  // partition any more.
  [[nodiscard]] static Landed checkpoint(db::Connection& db, const Lease& lease, const Task& task,
                                         const StoredState& state);
  // Takes an announced attempt back: number `attempt` is not charged, and the task stays where it
  // is.
  [[nodiscard]] Landed give_back(db::Connection& db, const Lease& lease, const Task& task,
                                 std::uint32_t attempt) const;
  // The worker died with all of these tasks, and the lease ends: nobody is charged, and each runs
  // alone from then on (kSuspectFlag).
  [[nodiscard]] Landed suspect(db::Connection& db, const Lease& lease,
                               std::span<const TaskKey> keys, Then then) const;
  // Attempt number `attempt` ended without a failure and is not charged: the task runs again after
  // `delay`, at most a century, or at once behind the tasks that are due already.
  [[nodiscard]] Landed snooze(db::Connection& db, const Lease& lease, const Task& task,
                              std::uint32_t attempt, std::chrono::microseconds delay) const;
  // All attempts were used up before: moves the task into task_dead, and leaves the attempts as
  // they are.
  [[nodiscard]] Landed bury_spent(db::Connection& db, const Lease& lease, const Task& task,
                                  const Verdict& verdict,
                                  const std::optional<OnDead>& on_dead = std::nullopt) const;
  // No handler here knows its type, and its partition waits for one (kNoHandlerFlag): for people.
  [[nodiscard]] Landed mark_unknown(db::Connection& db, const Lease& lease, TaskKey key) const;
  // Puts the tasks 30 s ahead in the order of their keys, and charges no attempt (S14). At least
  // one key.
  [[nodiscard]] Landed defer(db::Connection& db, const Lease& lease,
                             std::vector<TaskKey> keys) const;

  // False once no task of `classes` is left that may have killed the former holder.
  static bool suspects_left(db::Connection& db, const Lease& lease,
                            std::span<const std::uint32_t> classes);
  [[nodiscard]] Landed clear_suspects(db::Connection& db, const Lease& lease) const;

 private:
  [[nodiscard]] Landed landed(db::Connection& db, const Lease& lease, std::uint64_t matched) const;
  // Sends `writes` as one transaction, with a release if asked. The SQL statement at index
  // `deciding` shows whether the fence held.
  [[nodiscard]] Landed send(db::Connection& db, const Lease& lease,
                            std::vector<db::Statement> writes, std::size_t deciding, Then then,
                            const Hold& hold = {}) const;
  // Sends `burial` as one transaction, behind the statements of `on_dead`.
  [[nodiscard]] Landed send_burial(db::Connection& db, const Lease& lease, const Task& task,
                                   std::vector<db::Statement> burial, std::size_t deciding,
                                   Then then, const std::optional<Death>& death) const;
  // Gives the task a later key, in one transaction with `record`.
  [[nodiscard]] Landed move(db::Connection& db, const Lease& lease, const Task& task,
                            const db::Statement& record, const Mark& mark,
                            std::chrono::microseconds delay, Then then) const;
  [[nodiscard]] db::Statement attempt_record(const Lease& lease, TaskKey key, std::uint32_t attempt,
                                             const Verdict& verdict) const;

  const Holder& holder_;
};

}  // namespace allot::queue
