// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "config/settings.h"
#include "ipc/board.h"
#include "process/session.h"
#include "process/slot_writer.h"
#include "queue/model/catalog.h"
#include "queue/verbs/lease_store.h"
#include "worker/lease/database_clock.h"
#include "worker/lease/grant.h"
#include "worker/lease/holder_watch.h"
#include "worker/lease/lease_keeper.h"
#include "worker/lease/rates.h"
#include "worker/lease/served_queues.h"
#include "worker/lease/shares.h"
#include "worker/run/served_queue.h"

namespace allot::worker {

// Finds the next partition with work and leases it; for the block loop. Order of the search: a
// partition that a settler freed, a lease whose holder stalled (S4), a hint from the board, and, as
// scout, all free partitions (one worker of the pool at a time, S13). Without a result it sleeps
// until the doorbell rings or the polling floor is reached. In a pool with weights the hint belongs
// to the queue whose turn it is.
class Finder {
 public:
  // A leased partition with its first block, and which of its tasks may start.
  struct Found {
    queue::Block block;
    Grant grant{};
    std::uint32_t share = 0;  // tasks that may run at a time, in a capped queue; else 0
    bool deferred = false;    // others put tasks back there that have a handler here
  };

  // Whether there is a handler for a type.
  using Knows = std::function<bool(std::string_view type)>;

  Finder(Session& session, const queue::LeaseStore& store, LeaseKeeper& keeper, SlotWriter& slot,
         ipc::Board& board, std::uint32_t pool, ServedQueues queues, Knows knows,
         Shares shares = {});
  Finder(Session& session, const queue::LeaseStore& store, LeaseKeeper& keeper, SlotWriter& slot,
         ipc::Board& board, std::uint32_t pool, const std::vector<ServedQueue>& queues, Knows knows,
         Shares shares = {})
      : Finder(session, store, keeper, slot, board, pool, ServedQueues(queues), std::move(knows),
               std::move(shares)) {}

  // A lease that slot and keeper know already. nullopt if there was nothing to find this time.
  std::optional<Found> next();

  // Call it between two tasks. True if this worker may take a partition that a settler freed, so
  // that the lease in hand has to end. A crashed task waits for one task, not for a whole lease.
  bool claim_urgent();

  // For a lease whose tasks keep it beyond its time. same_again(): it would get the same if it were
  // taken again. others_wait(): work waits that the pool's workers have not reached.
  [[nodiscard]] bool same_again(queue::Partition partition, std::uint32_t share, bool rated);
  [[nodiscard]] bool others_wait();

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

  // Removes the lease from slot and keeper, once the database knows.
  void forget_lease();

 private:
  std::optional<Found> find();
  [[nodiscard]] bool hints_wait() const;
  ipc::Hint next_hint();
  std::optional<Found> follow(ipc::Hint hint);
  std::optional<Found> follow_rated(queue::Partition partition, const ServedQueue& queue,
                                    queue::Held held);
  std::optional<Found> take_over_one();
  queue::Scouted look(const std::vector<std::uint32_t>& queue_ids, queue::ScoutAlso also);
  std::vector<ipc::Hint> hints_of(const queue::Scouted& scouted);
  std::vector<ipc::Hint> look_before(std::vector<std::uint32_t> queue_ids);
  bool becomes_scout();
  void scout();
  void plan_next_poll(const queue::Scouted& scouted);
  void watch();
  void wait_for_the_end();
  void sleep();
  void look_at_queues(Nanos age);
  [[nodiscard]] std::shared_ptr<const ServedQueue> find_served(std::uint32_t queue_id);
  template <typename Verb>
  std::optional<queue::Block> take(queue::Partition partition, const ServedQueue& queue,
                                   Verb&& verb);
  template <typename Verb>
  std::optional<queue::Block> take_share(db::Connection& db, queue::Partition partition,
                                         const ServedQueue& queue, Verb&& verb);

  Session& session_;
  const queue::LeaseStore& store_;
  LeaseKeeper& keeper_;
  SlotWriter& slot_;
  ipc::PoolBoard& pool_;
  ServedQueues queues_;
  Knows knows_;

  ipc::Hint claimed_ = 0;
  std::uint32_t seen_bell_ = 0;  // the bell before the last poll
  std::uint64_t highest_seen_ = 0;
  std::uint32_t share_ = 0;                         // of the last lease
  Grant grant_;                                     // the charge for it
  std::map<std::uint32_t, Nanos> full_until_ns_{};  // capped queues without room for another task
  DatabaseClock clock_;
  Rates rates_;
  std::uint64_t asked_by_ = 0;  // PoolBoard::next_scout_ns that made this worker the scout
  queue::Ahead ahead_{true, true, std::nullopt};  // by the last poll; everything before the first
  std::uint64_t stands_by_until_ns_ = 0;
  Nanos next_deferred_ns_ = 0;  // next search for deferred types; CLOCK_MONOTONIC
  Shares shares_;
  HolderWatch<queue::Partition, queue::Observation> watched_;
};

}  // namespace allot::worker
