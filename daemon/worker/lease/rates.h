// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "ipc/board.h"
#include "queue/verbs/rated.h"
#include "worker/lease/grant.h"

namespace allot::worker {

// What a worker knows of the rates of its queues (A11): which have one, how much it asks for at a
// time, and when to look again. A queue without a rate is looked for once a second, because one may
// get a rate at any time. Only the finder and the block loop use it.
class Rates {
 public:
  // `pool` outlives this object.
  explicit Rates(ipc::PoolBoard& pool) : pool_(pool) {}

  [[nodiscard]] bool rated(std::uint32_t queue_id) const { return queues_.count(queue_id) != 0; }
  void learn(std::uint32_t queue_id) { queues_.try_emplace(queue_id); }

  // Whether a scout looks at rates as well this time. True counts as a look.
  [[nodiscard]] bool look(Nanos now);
  // The hints of a scout's look: no more partitions of a queue than tasks may start. The next scout
  // goes when a queue that lets none start now lets one start.
  [[nodiscard]] std::vector<ipc::Hint> scouted(const queue::ScoutedRates& rates);

  // How many starts to ask for, of a block of this size.
  [[nodiscard]] std::uint32_t asked(std::uint32_t queue_id, std::uint32_t block_size) const;
  // The answer to a charge. A queue that has no rate any more is forgotten.
  void answered(std::uint32_t queue_id, const queue::Granted& granted);
  void ended(std::uint32_t queue_id, const Grant& grant);

 private:
  struct Known {
    GrantSize size{};
    std::uint32_t most = 1;
  };
  void look_again_in(Nanos wait);

  ipc::PoolBoard& pool_;
  std::map<std::uint32_t, Known> queues_;
  Nanos next_look_ns_ = 0;
};

}  // namespace allot::worker
