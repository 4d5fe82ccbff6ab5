// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "ipc/board.h"
#include "queue/model/lease.h"
#include "queue/verbs/rated.h"
#include "worker/lease/grant.h"

namespace allot::worker {

// What a worker knows of the rates of its queues (A11): which have one, how much it asks for at a
// time, and when to look again. The workers of a pool share the looks: one a second where no queue
// has a rate, because one may get a rate at any time, and one with each look for work where one
// has. Only the finder and the block loop use it.
class Rates {
 public:
  // `board` outlives this object.
  Rates(ipc::Board& board, std::uint32_t pool);

  [[nodiscard]] bool rated(std::uint32_t queue_id) const { return queues_.count(queue_id) != 0; }
  // Whether no task of this queue may start yet, as far as this worker knows.
  [[nodiscard]] bool closed(std::uint32_t queue_id, Nanos now) const;
  void learn(std::uint32_t queue_id) { queues_.try_emplace(queue_id); }

  // Whether a scout looks at rates as well this time. True counts as a look.
  [[nodiscard]] bool look(Nanos now);
  // What such a look found: no more partitions of a queue than tasks may start. The next scout goes
  // when a queue that lets none start now lets one start.
  [[nodiscard]] std::vector<queue::Partition> scouted(const queue::ScoutedRates& rates);

  // How many starts to ask for, of a block of this size.
  [[nodiscard]] std::uint32_t asked(std::uint32_t queue_id, std::uint32_t block_size) const;
  // The answer to a charge. A queue that has no rate any more is forgotten.
  void answered(std::uint32_t queue_id, const queue::Granted& granted);
  void ended(std::uint32_t queue_id, const Grant& grant);

 private:
  struct Known {
    GrantSize size{};
    std::uint32_t most = 1;
    Nanos closed_until_ns = 0;  // CLOCK_MONOTONIC
  };
  void wait_for(Known& queue, std::uint64_t wait_us);
  void look_again_in(Nanos wait);

  ipc::PoolBoard& pool_;
  std::atomic<std::uint64_t>& next_look_ns_;  // of the pool
  std::map<std::uint32_t, Known> queues_;
};

}  // namespace allot::worker
