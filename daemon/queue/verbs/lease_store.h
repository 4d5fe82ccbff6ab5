// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "db/connection.h"
#include "queue/model/fence.h"
#include "queue/model/lease.h"
#include "queue/model/task.h"
#include "queue/verbs/deferred.h"
#include "sql_text.h"

namespace allot::queue {

// How to read the head of a partition.
struct FetchSpec {
  std::uint32_t block_size = 100;
  std::uint64_t highest_seen = 0;  // keys up to it are due, even if the clock was set back
  HolderTime time{};               // tasks due by this time are due
  // The first tasks that have already started: read again without their payloads, and not charged
  // to a rate.
  std::span<const TaskKey> running{};
  // Payloads up to this size come with the block, which bounds a block in bytes, too (S19).
  [[nodiscard]] std::uint64_t inline_limit() const;
};

// A lease with the first tasks of its partition.
struct Block {
  Lease lease;
  std::vector<Task> tasks;
  std::chrono::microseconds clock{0};  // of the database, since 1970
  std::uint32_t cap = 0;               // of the queue at the time of the lease; 0: none (S51)
};

// A queue with a rate, as a scout sees it.
struct RatedQueue {
  std::uint32_t queue_id = 0;
  std::chrono::microseconds wait{0};  // until a task may start
  std::uint64_t starts = 0;           // number of starts allowed now
};
struct ScoutedRates {
  std::vector<RatedQueue> queues;
  std::vector<Partition> found;  // free partitions of these queues with a due task
};

// Further things that a scout looks for.
struct ScoutAlso {
  bool rates = false;     // queues with a rate, otherwise left out
  bool deferred = false;  // deferred types (S66)
  bool ahead = false;     // the next due task, for a pool that waits
  // One statement for each queue, in one trip: a queue with more partitions than one statement
  // returns does not hide partitions of other queues.
  bool each = false;
};

// State of the queues that a waiting pool needs for its next poll (S77).
struct Ahead {
  bool rates = false;                                 // one of the queues has a rate
  bool deferred = false;                              // one of them has deferred types
  std::optional<std::chrono::microseconds> due_in{};  // until the first task becomes due
};

// Free partitions with a due task, and the database's clock as in Block.
struct Scouted {
  std::vector<Partition> found;       // from queues without a rate
  ScoutedRates rates;                 // if requested
  std::vector<ScoutedType> deferred;  // if requested
  std::optional<Ahead> ahead;         // likewise
  std::chrono::microseconds clock{0};
};

// Whether to lease a partition that waits for a task without a handler (S66): kLease for a worker
// that found a type there that it knows.
enum class Deferred { kSkip, kLease };

// Policy for a lease whose row is locked by another session.
enum class Locked {
  kSkip,  // give up at once: there are other partitions
  kWait   // an earlier try of this holder, with a lost reply, may hold the lock
};

// The verbs on q_lock_table. Every call is one trip, may be repeated after a lost reply, throws
// db::DbError, and reads no clock of this host.
class LeaseStore {
 public:
  LeaseStore(Holder holder, std::chrono::microseconds ttl)
      : holder_(std::move(holder)), ttl_(ttl) {}

  [[nodiscard]] const Holder& holder() const { return holder_; }
  [[nodiscard]] std::chrono::microseconds ttl() const { return ttl_; }

  // Leases a free partition and fetches from it. nullopt: another worker has it, or it is
  // deferred.
  std::optional<Block> lease(db::Connection& db, Partition partition, const FetchSpec& spec,
                             Locked locked = Locked::kWait,
                             Deferred deferred = Deferred::kSkip) const;

  // The same for a partition whose holder this process saw unchanged (S4). `stale`: unchanged for
  // longer than its TTL, so that the database's clock is ignored. `starts_none`: a rate of the
  // queue does not apply, because the caller starts nothing (S42). nullopt also for some time after
  // a server change (S48).
  std::optional<Block> take_over(db::Connection& db, const Observation& observed, bool stale,
                                 const FetchSpec& spec, Locked locked = Locked::kWait,
                                 bool starts_none = false) const;

  // False: the lease is gone and nothing was written.
  bool renew(db::Connection& db, const Lease& lease) const;
  bool release(db::Connection& db, const Lease& lease) const;

  // Epoch under which this holder still has the partition.
  std::optional<std::uint64_t> held_epoch(db::Connection& db, Partition partition) const;

  static Scouted scout(db::Connection& db, std::span<const std::uint32_t> queues,
                       const HolderTime& time, ScoutAlso also = {});
  static std::vector<Partition> scout(db::Connection& db, std::span<const std::uint32_t> queues) {
    return scout(db, queues, HolderTime{}).found;
  }
  static std::vector<Observation> watch(db::Connection& db, std::span<const std::uint32_t> queues);

  // S11: frees the leases of an earlier run of this instance. Returns their number.
  std::uint64_t reclaim(db::Connection& db) const;

  // For verbs/rated: a statement that leases `partition` for this holder, and its results: the
  // leased row, and the tasks. nullopt: no lease.
  [[nodiscard]] db::Statement lease_statement(const sql::SqlText& text, Partition partition,
                                              const FetchSpec& spec, Locked locked) const;
  [[nodiscard]] std::optional<Block> read_block(Partition partition, db::StatementResult& leased,
                                                db::StatementResult& tasks) const;

 private:
  std::optional<Block> take(db::Connection& db, const db::Statement& verb,
                            const db::Statement* before, const FetchSpec& spec,
                            Partition partition) const;

  Holder holder_;
  std::chrono::microseconds ttl_;
};

// Shares of a queue's cap, which limits its running tasks in the whole cluster. Running tasks are
// not counted: each partition has a share of the cap, and its lease runs no more (S51, decision
// 0026).
// Part of the cap for partition `index` (from 0) of `partitions`: their sum is `cap`, or each has 1
// if there are more partitions. A retired partition, which is being emptied, has 1.
[[nodiscard]] std::uint32_t share_of(std::uint32_t cap, std::uint32_t partitions,
                                     std::uint32_t index);

struct CapPart {
  // Limit of running tasks. 0: leases from before the queue changed use all of it, or the queue is
  // gone.
  std::uint32_t most = 0;
  bool paused = false;
  bool rated = false;
  std::uint32_t cap = 0;  // of the queue
};
// Number of tasks that a lease of this partition may run, as the queue is now, besides the tasks of
// other leases. `published` is the lease's own limit (FetchSpec::block_size), and the maximum.
[[nodiscard]] CapPart read_cap_part(db::Connection& db, Partition partition,
                                    std::uint32_t published);

// For a statement that leases: lease.sql, lease_rated.sql.
db::Statement& set_deferred(db::Statement& statement, Deferred deferred);

// Ends connections of a dead process whose last packet may still be executing (S9). Connections to
// an earlier run of the server ended with it, and other sessions may have their ids by now; the
// same holds for another server. If the server was restarted within seconds, a connection from
// around its start is ambiguous, and the call ends it.
struct FormerConnection {
  std::uint64_t id = 0;             // 0: none
  std::uint64_t server_id = 0;      // db::Connection::server_id()
  std::chrono::seconds uptime{0};   // server_uptime() when it was opened
  std::chrono::nanoseconds age{0};  // time since then
};
void kill_connections(db::Connection& db, std::span<const FormerConnection> connections);

// Uptime of the server of `db` in whole seconds, as the server reports it.
std::chrono::seconds server_uptime(db::Connection& db);

// release.sql for `lease`, to send together with other statements. No worker leases the partition
// again before `deferral` is over.
db::Statement release_statement(const Lease& lease, const Deferral& deferral = {});

}  // namespace allot::queue
