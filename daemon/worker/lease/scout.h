// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "ipc/board.h"
#include "process/session.h"
#include "queue/verbs/lease_store.h"
#include "worker/lease/database_clock.h"
#include "worker/lease/hints.h"
#include "worker/lease/rates.h"
#include "worker/lease/served_queues.h"
#include "worker/lease/weights.h"

namespace allot::worker {

// Searches free partitions with work, and shows them to the pool as hints on the board; one worker
// of the pool at a time is the scout (S13). Source of the finder: the hints. In a pool with weights
// the next hint belongs to the queue whose turn it is.
class Scout {
 public:
  // Whether there is a handler for a type.
  using Knows = std::function<bool(std::string_view type)>;

  // All but `knows` outlive this object.
  Scout(process::Session& session, ipc::PoolBoard& pool, ServedQueues& queues, DatabaseClock& clock,
        Rates& rates, const Weights& weights, Knows knows);

  // Replaces the hints, and plans the next poll of the pool. False: another worker is the scout.
  // `seen_bell` counts the ring for new hints, which carries no news.
  bool run(std::uint32_t& seen_bell);
  [[nodiscard]] std::optional<Offer> offer_hint();
  [[nodiscard]] bool hints_wait() const;

 private:
  std::vector<ipc::Hint> poll_before(std::vector<std::uint32_t> queue_ids);
  queue::Scouted poll(const std::vector<std::uint32_t>& queue_ids, queue::ScoutAlso also);
  std::vector<ipc::Hint> hints_of(const queue::Scouted& scouted);
  void plan_next_poll(const queue::Scouted& scouted);
  Nanos next_interval_after(const queue::Scouted& scouted, Nanos now);

  process::Session& session_;
  ipc::PoolBoard& pool_;
  ServedQueues& queues_;
  DatabaseClock& clock_;
  Rates& rates_;
  const Weights& weights_;
  const Knows knows_;
  std::uint64_t asked_by_ = 0;  // PoolBoard::next_scout_ns that made this worker the scout
  queue::Ahead ahead_{true, true, std::nullopt};  // by the last poll; everything before the first
  Nanos next_deferred_ns_ = 0;                    // next search for deferred types; CLOCK_MONOTONIC
};

}  // namespace allot::worker
