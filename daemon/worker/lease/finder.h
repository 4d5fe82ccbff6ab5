// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "ipc/board.h"
#include "process/session.h"
#include "process/slot_writer.h"
#include "queue/verbs/lease_store.h"
#include "worker/lease/caps.h"
#include "worker/lease/database_clock.h"
#include "worker/lease/lease_keeper.h"
#include "worker/lease/offer.h"
#include "worker/lease/rates.h"
#include "worker/lease/scout.h"
#include "worker/lease/served_queues.h"
#include "worker/lease/takeovers.h"
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
  Finder(process::Session& session, const queue::LeaseStore& store, LeaseKeeper& keeper,
         process::SlotWriter& slot, ipc::Board& board, std::uint32_t pool,
         const std::vector<ServedQueue>& queues, Knows knows, Weights weights = {})
      : Finder(session, store, keeper, slot, board, pool, ServedQueues(queues), std::move(knows),
               std::move(weights)) {}
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
  using Source = std::function<std::optional<Offer>()>;

  std::optional<Offer> offer_urgent();
  std::optional<Offer> offer_scouted();
  std::optional<LeasedBlock> find();
  std::optional<LeasedBlock> lease(const Offer& offer);
  std::optional<LeasedBlock> take(db::Connection& db, const Offer& offer, const ServedQueue& queue,
                                  queue::Locked locked);
  void leased(LeasedBlock& found, const ServedQueue& queue, Nanos sent_ns);
  bool run_scout();
  void wait_for_the_end();
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
  Caps caps_;

  // Where partitions come from, in this order. Takeovers precede the hints: with endless work the
  // hints would never run out (S13).
  ipc::Hint urgent_ = 0;  // reserved for this worker
  Takeovers takeovers_;
  Scout scout_;
  const std::array<Source, 4> sources_;

  std::uint32_t seen_bell_ = 0;  // the bell before the last poll
  std::uint64_t highest_seen_ = 0;
  std::uint64_t stands_by_until_ns_ = 0;
};

}  // namespace allot::worker
