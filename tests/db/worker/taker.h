// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "db/stores.h"
#include "process/session.h"
#include "worker/lease/finder.h"
#include "worker/lease/lease_keeper.h"
#include "worker/lease/weights.h"

namespace allot::worker {

// The part of a worker that takes and releases leases: the tasks stay, so that its queues are
// always full.
class Taker {
 public:
  Taker(const db::ConnectOptions& options, ipc::Board& board,
        const std::vector<ServedQueue>& queues, const config::Pool& pool, std::uint64_t phase,
        std::chrono::microseconds ttl = std::chrono::seconds(30))
      : stores_(ttl),
        session_(options, slot_, std::chrono::milliseconds(500)),
        keeper_(stores_.leases, stores_.detached, options, slot_, board),
        finder_(
            session_, stores_.leases, keeper_, slot_, board, 0, ServedQueues(queues),
            [](std::string_view) { return false; }, Weights(pool, queues, phase)) {
    process::require_fit(session_, options);
  }

  // Queue of the lease; 0: nothing was found.
  std::uint32_t take() {
    lease_.reset();
    if (auto found = finder_.next()) lease_ = found->block.lease;
    return lease_ ? lease_->partition.queue_id : 0;
  }
  [[nodiscard]] bool valid() { return keeper_.valid(); }
  void give_back() {
    if (!lease_) return;
    keeper_.releasing();
    session_.call([&](db::Connection& db) { return stores_.leases.release(db, *lease_); });
    keeper_.drop();
    finder_.drop_lease();
    lease_.reset();
  }

 private:
  std::unique_ptr<ipc::Slot> raw_slot_ = std::make_unique<ipc::Slot>();
  process::SlotWriter slot_{*raw_slot_, -1};
  queue::Stores stores_;
  process::Session session_;
  LeaseKeeper keeper_;
  Finder finder_;
  std::optional<queue::Lease> lease_;
};

}  // namespace allot::worker
