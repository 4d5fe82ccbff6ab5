// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "ipc/board.h"
#include "process/session.h"
#include "process/slot_writer.h"
#include "queue/verbs/lease_store.h"
#include "worker/lease/database_clock.h"
#include "worker/lease/hints.h"
#include "worker/lease/lease_keeper.h"
#include "worker/lease/rates.h"
#include "worker/lease/scout.h"
#include "worker/lease/served_queues.h"
#include "worker/lease/weights.h"
#include "worker/run/served_queue.h"

namespace allot::worker {

// Finds the next partition with work and leases it; for the block loop. It asks its sources in
// order: a partition that a settler freed, a lease whose holder stalled (S4), a hint from the
// board, and, as scout, all free partitions (one worker of the pool at a time, S13). Without a
// result it sleeps until the doorbell rings or the polling floor is reached.
class Finder {
 public:
  using Knows = Scout::Knows;

  Finder(process::Session& session, const queue::LeaseStore& store, LeaseKeeper& keeper,
         process::SlotWriter& slot, ipc::Board& board, std::uint32_t pool, ServedQueues queues,
         Knows knows, Weights weights = {});
  Finder(const Finder&) = delete;
  Finder& operator=(const Finder&) = delete;
  ~Finder() = default;

  // A lease that slot and keeper know already. nullopt if there was nothing to find this time.
  std::optional<LeasedBlock> next();

  // Call it between two tasks. True if this worker may take a partition that a settler freed, so
  // that its lease has to end. A crashed task waits for one task, not for a whole lease.
  bool reserve_urgent();

  // For a lease whose tasks keep it beyond its time. lease_unchanged(): it would get the same if it
  // were taken again. has_other_work(): work waits that the pool's workers have not reached.
  [[nodiscard]] bool lease_unchanged(queue::Partition partition, std::uint32_t cap_part,
                                     bool rated);
  [[nodiscard]] bool has_other_work();

  [[nodiscard]] std::shared_ptr<const ServedQueue> served(std::uint32_t queue_id) const {
    return queues_.find(queue_id);
  }
  // For `block_size` tasks.
  [[nodiscard]] queue::FetchSpec fetch_spec(std::uint32_t block_size) const;
  [[nodiscard]] Rates& rates() { return rates_; }
  // Keys up to this one are due, even if the database clock is set back.
  void seen(std::uint64_t run_key) { highest_seen_ = std::max(highest_seen_, run_key); }

  // Whether the doorbell rang after fetching() or after the poll that found this lease: the block
  // may lack tasks.
  void fetching() { seen_bell_ = pool_.bell.rings.load(); }
  [[nodiscard]] bool rung_since_fetch() const { return pool_.bell.rings.load() != seen_bell_; }

  // Removes the lease from the slot, once the database knows of its end.
  void drop_lease();

 private:
  std::optional<LeasedBlock> find();
  // nullopt: there is no offer, or no lease.
  std::optional<LeasedBlock> lease(const std::optional<Offer>& offer);
  // Number of tasks that a lease fetches at a time. In a capped queue this is the number that it
  // may run at a time, which its row shows to the other leases.
  [[nodiscard]] static std::uint32_t block_size(const ServedQueue& queue,
                                                queue::Partition partition);
  // The capped queue had no room for another lease a moment ago.
  [[nodiscard]] bool is_full(std::uint32_t queue_id);
  // A lease of a capped queue reads the parts of the others, once they can see it. Without room it
  // is given back at once, with its charge (S43): the next try is charged again.
  [[nodiscard]] std::optional<LeasedBlock> fit(db::Connection& db, const ServedQueue& queue,
                                               std::optional<LeasedBlock> found);
  // Costs one read of the steward's page, unless it shows a stalled holder or cannot be used.
  void poll_takeovers();
  void sleep();

  process::Session& session_;
  const queue::LeaseStore& store_;
  LeaseKeeper& keeper_;
  process::SlotWriter& slot_;
  ipc::PoolBoard& pool_;
  ServedQueues queues_;
  DatabaseClock clock_;
  // Limits of a lease.
  Rates rates_;
  Weights weights_;
  std::map<std::uint32_t, Nanos> full_until_ns_;  // by capped queue (S51); CLOCK_MONOTONIC

  // Where partitions come from, in this order. Takeovers precede the hints: with endless work the
  // hints would never run out (S13).
  ipc::Hint urgent_ = 0;  // reserved for this worker
  LeaseWatch takeovers_;  // leases whose holders stalled (S4)
  Scout scout_;

  std::uint32_t seen_bell_ = 0;  // the bell before the last poll
  std::uint64_t highest_seen_ = 0;
  std::uint64_t stands_by_until_ns_ = 0;
};

}  // namespace allot::worker
