// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "base/clock.h"
#include "ipc/board.h"
#include "process/session.h"
#include "queue/model/lease.h"
#include "queue/verbs/rated.h"
#include "worker/lease/grant.h"
#include "worker/lease/hints.h"

namespace allot::worker {

// Rates of queues as known to a worker (A11): which queues have one, how much to request at a time,
// and when to poll again. The workers of a pool share the polls: one a second if no queue has a
// rate, because one may get a rate at any time, else one with each poll for work. Only the finder
// and the block loop use it.
class Rates {
 public:
  // `board` outlives this object.
  Rates(ipc::Board& board, std::uint32_t pool) : pool_(board.pools[pool]) {}

  [[nodiscard]] bool rated(std::uint32_t queue_id) const { return queues_.count(queue_id) != 0; }
  // Whether no task of this queue may start yet, as far as this worker knows.
  [[nodiscard]] bool closed(std::uint32_t queue_id, Nanos now) const;
  void learn(std::uint32_t queue_id) { queues_.try_emplace(queue_id); }

  // Whether a scout reads the rates as well this time. True counts as a poll.
  [[nodiscard]] bool poll_due(Nanos now);
  // Result of such a poll: at most as many partitions of a queue as tasks may start. The next poll
  // comes when a closed queue opens.
  [[nodiscard]] std::vector<queue::Partition> scouted(const queue::ScoutedRates& rates);

  // The verbs that lease and fetch; in a queue with a known rate the statements that charge for it
  // (S42).
  [[nodiscard]] std::optional<LeasedBlock> lease(db::Connection& db, const queue::LeaseStore& store,
                                                 const Offer& offer, const queue::FetchSpec& spec,
                                                 queue::Locked locked);
  // Acknowledges, and fetches next to `running` tasks. Replaces `grant`.
  [[nodiscard]] std::vector<queue::Task> fetch(process::Session& session, const queue::Lease& lease,
                                               std::span<const queue::Finished> finished,
                                               const queue::FetchSpec& spec, std::size_t running,
                                               Grant& grant);
  void ended(std::uint32_t queue_id, const Grant& grant);

 private:
  struct Known {
    GrantSize size{};
    std::uint32_t most = 1;
    Nanos closed_until_ns = 0;  // CLOCK_MONOTONIC
  };
  // Number of starts to request for a block of this size.
  [[nodiscard]] std::uint32_t asked(std::uint32_t queue_id, std::uint32_t block_size) const;
  // The answer to a charge. A queue that has lost its rate is removed.
  void answered(std::uint32_t queue_id, const queue::Granted& granted);
  void wait_for(Known& queue, std::uint64_t wait_us);
  void poll_in(Nanos wait);

  ipc::PoolBoard& pool_;
  std::map<std::uint32_t, Known> queues_;
};

}  // namespace allot::worker
