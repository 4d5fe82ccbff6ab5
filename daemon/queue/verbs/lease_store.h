// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "db/connection.h"
#include "queue/model/claim.h"
#include "queue/model/lease.h"
#include "queue/model/task.h"
#include "queue/verbs/deferred.h"
#include "sql_text.h"

namespace allot::queue {

// How the head of a partition is read.
struct FetchSpec {
  std::uint32_t block_size = 100;
  std::uint64_t highest_seen = 0;  // keys up to it are due, whatever a stepped-back clock says
  HolderTime time{};               // what is due by it is due
  // Those of the first tasks that have started: they are read again, but without their payloads,
  // and no rate is charged for them.
  std::span<const TaskKey> running{};
  // Payloads up to this size come with the block, so that a block is bounded in bytes too (S19).
  [[nodiscard]] std::uint64_t inline_limit() const;
};

// A lease with the first tasks of its partition.
struct Block {
  Lease lease;
  std::vector<Task> tasks;
  std::chrono::microseconds clock{0};  // the database's, since 1970
  std::uint32_t cap = 0;               // of the queue, when it was leased; 0: none (S51)
};

// Of a scout's look: a queue that has a rate.
struct RatedQueue {
  std::uint32_t queue_id = 0;
  std::chrono::microseconds wait{0};  // until a task may start
  std::uint64_t starts = 0;           // so many may start now
};
struct ScoutedRates {
  std::vector<RatedQueue> queues;
  std::vector<Partition> found;  // free ones of these queues, with a task that is due
};

// What a scout looks for as well.
struct ScoutAlso {
  bool rates = false;     // queues with a rate, which it leaves out otherwise
  bool deferred = false;  // types that were put back (S66)
  bool ahead = false;     // what is ahead, in a pool that waits
};

// What a look of a pool that waits says of the next one (S77).
struct Ahead {
  bool rates = false;                                 // one of the queues has a rate
  bool deferred = false;                              // types were put back in one of them
  std::optional<std::chrono::microseconds> due_in{};  // the first task that is not due yet
};

// Free partitions with a task that is due, and the database's clock as in Block.
struct Scouted {
  std::vector<Partition> found;       // of queues without a rate
  ScoutedRates rates;                 // if it was asked for
  std::vector<ScoutedType> deferred;  // if it was asked for
  std::optional<Ahead> ahead;         // likewise
  std::chrono::microseconds clock{0};
};

// Whether a lease is taken of a partition that waits for a task without a handler (S66): by a
// worker that found a type there which it knows.
enum class Held { kWaits, kKnown };

// What to do with a lease whose row another session has locked.
enum class Locked {
  kSkip,  // do not win it: there are others
  kWait   // an earlier try of this holder, whose reply was lost, may have the lock
};

// The verbs on q_lock_table. Every call is one trip, may be repeated after a lost reply, and throws
// db::DbError. None of them looks at a clock of this host.
class LeaseStore {
 public:
  LeaseStore(Holder holder, std::chrono::microseconds ttl)
      : holder_(std::move(holder)), ttl_(ttl) {}

  [[nodiscard]] const Holder& holder() const { return holder_; }
  [[nodiscard]] std::chrono::microseconds ttl() const { return ttl_; }

  // Leases a free partition and fetches from it. nullopt: another worker has it, or it is held
  // back.
  std::optional<Block> lease(db::Connection& db, Partition partition, const FetchSpec& spec,
                             Locked locked = Locked::kWait, Held held = Held::kWaits) const;

  // The same for a partition whose holder this process saw standing still (S4). `stale` says that
  // it stood still for longer than it lasts, so that the call does not ask the database's clock.
  // `starts_none`: nor does a rate of the queue stop it, because the caller starts nothing (S42).
  // nullopt also for a while after a change of server (S48).
  std::optional<Block> take_over(db::Connection& db, const Observation& observed, bool stale,
                                 const FetchSpec& spec, Locked locked = Locked::kWait,
                                 bool starts_none = false) const;

  // False: the lease is gone and nothing was written.
  bool renew(db::Connection& db, const Lease& lease) const;
  bool release(db::Connection& db, const Lease& lease) const;

  // The epoch under which this holder still has the partition.
  std::optional<std::uint64_t> held_epoch(db::Connection& db, Partition partition) const;

  static Scouted scout(db::Connection& db, std::span<const std::uint32_t> queues,
                       const HolderTime& time, ScoutAlso also = {});
  static std::vector<Partition> scout(db::Connection& db, std::span<const std::uint32_t> queues) {
    return scout(db, queues, HolderTime{}).found;
  }
  // The same with a look at each queue by itself, in one trip: where one has more partitions with
  // work than a look tells, it hides none of another's.
  static Scouted scout_each(db::Connection& db, std::span<const std::uint32_t> queues,
                            const HolderTime& time, ScoutAlso also = {});
  static std::vector<Observation> watch(db::Connection& db, std::span<const std::uint32_t> queues);

  // S11: frees the leases of an earlier run of this instance. Returns their number.
  std::uint64_t reclaim(db::Connection& db) const;

  // For verbs/rated: a statement that leases `partition` for this holder, and its answers: the row
  // that it leased, and the tasks. nullopt: it leased none.
  [[nodiscard]] db::Statement lease_statement(const sql::SqlText& text, Partition partition,
                                              const FetchSpec& spec, Locked locked) const;
  [[nodiscard]] std::optional<Block> read_block(Partition partition, db::StatementResult& leased,
                                                db::StatementResult& tasks) const;

 private:
  std::optional<Block> take(db::Connection& db, std::vector<db::Statement> statements,
                            Partition partition, const FetchSpec& spec) const;

  Holder holder_;
  std::chrono::microseconds ttl_;
};

// For a statement that leases: lease.sql, lease_rated.sql.
db::Statement& set_held(db::Statement& statement, Held held);

// Ends connections of a dead process, whose last packet may still be executing (S9). Connections to
// the server's former life went down with it, and other sessions may have their ids by now; the
// same holds for another server. In doubt the call ends a connection: around the start of a server
// that was restarted within seconds.
struct FormerConnection {
  std::uint64_t id = 0;             // 0: there was none
  std::uint64_t server_id = 0;      // db::Connection::server_id()
  std::chrono::seconds uptime{0};   // server_uptime() when the connection was new
  std::chrono::nanoseconds age{0};  // the time since then
};
void kill_connections(db::Connection& db, std::span<const FormerConnection> connections);

// How long the server of `db` has been up, in whole seconds, as it says itself.
std::chrono::seconds server_uptime(db::Connection& db);

// release.sql for `lease`, to send together with other statements. No worker leases the partition
// again before `hold` is over.
db::Statement release_statement(const Lease& lease, const Hold& hold = {});
// The same for the lease under which `claim` was made.
db::Statement release_statement(const Claim& claim, const Hold& hold = {});

}  // namespace allot::queue
