// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "db/connection.h"
#include "queue/lease.h"
#include "queue/task.h"

namespace allot::queue {

// How the head of a partition is read.
struct FetchSpec {
  std::uint32_t block_size = 100;
  std::uint64_t highest_seen = 0;  // keys up to it are due, whatever a stepped-back clock says
  // Payloads up to this size come with the block; so a block is bounded in bytes too (S19).
  [[nodiscard]] std::uint64_t inline_limit() const;
};

// A lease with the first tasks of its partition.
struct Block {
  Lease lease;
  std::vector<Task> tasks;
};

// What to do with a lease whose row somebody has locked.
enum class Locked {
  kSkip,  // it is not won: there are others
  kWait   // the lock may be that of an earlier try, whose reply was lost: it is this holder's then
};

// The verbs on q_lock_table. Every call is one trip, may be repeated after a lost reply, and throws
// db::DbError. Nothing here looks at a clock of this host.
class LeaseStore {
 public:
  LeaseStore(Holder holder, std::chrono::microseconds ttl)
      : holder_(std::move(holder)), ttl_(ttl) {}

  [[nodiscard]] const Holder& holder() const { return holder_; }
  [[nodiscard]] std::chrono::microseconds ttl() const { return ttl_; }

  // Leases a free partition and fetches from it. nullopt: somebody else has it, or it is held back.
  std::optional<Block> lease(db::Connection& db, Partition partition, const FetchSpec& spec,
                             Locked locked = Locked::kWait) const;

  // The same for a partition whose holder this process saw standing still (S4). `stale` says that
  // it stood still for longer than any lease, so that the database's clock is not asked.
  std::optional<Block> take_over(db::Connection& db, const Sighting& sighting, bool stale,
                                 const FetchSpec& spec, Locked locked = Locked::kWait) const;

  // False: the lease is gone, nothing was written.
  bool renew(db::Connection& db, const Lease& lease) const;
  bool release(db::Connection& db, const Lease& lease) const;

  // The epoch under which this holder still has the partition.
  std::optional<std::uint64_t> held_epoch(db::Connection& db, Partition partition) const;

  static std::vector<Partition> scout(db::Connection& db, std::span<const std::uint32_t> queues);
  static std::vector<Sighting> watch(db::Connection& db, std::span<const std::uint32_t> queues);

  // S11: frees what a former life of this instance held. The number of leases freed.
  std::uint64_t reclaim(db::Connection& db) const;

 private:
  std::optional<Block> take(db::Connection& db, db::Statement statement, Partition partition,
                            const FetchSpec& spec, Locked locked) const;

  Holder holder_;
  std::chrono::microseconds ttl_;
};

// Ends connections of a dead process, whose last packet may still be executing (S9). Those of the
// server's former life went down with it, and their ids may be somebody else's by now; so may those
// of another server. In doubt a connection is ended: around the start of a server that was started
// again within seconds.
struct FormerConnection {
  std::uint64_t id = 0;             // 0: there was none
  std::uint64_t server_id = 0;      // db::Connection::server_id()
  std::chrono::seconds uptime{0};   // server_uptime() when it was new
  std::chrono::nanoseconds age{0};  // the time since then
};
void kill_connections(db::Connection& db, std::span<const FormerConnection> connections);

// For how long the server of `db` has been up, as it says itself: in whole seconds.
std::chrono::seconds server_uptime(db::Connection& db);

// release.sql for `lease`, to be sent together with other statements. Nobody leases the partition
// again before `hold` is over (S16).
db::Statement release_statement(const Lease& lease,
                                std::chrono::microseconds hold = std::chrono::microseconds(0));

}  // namespace allot::queue
