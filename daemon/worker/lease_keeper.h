// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <thread>

#include "base/clock.h"
#include "db/connection.h"
#include "db/mutation.h"
#include "queue/lease_store.h"
#include "worker/slot_writer.h"

namespace allot::worker {

// Renews the lease at a third of its TTL while tasks run, in a thread with a connection of its own,
// which is opened when a lease first lives that long.
//
// Block loop and keeper share one mutex (S1): drop() waits for a renewal under way, and after
// drop() none is sent, so that no renewal can land behind a release.
class LeaseKeeper {
 public:
  LeaseKeeper(const queue::LeaseStore& store, db::ConnectOptions options, SlotWriter& slot);
  LeaseKeeper(const LeaseKeeper&) = delete;
  LeaseKeeper& operator=(const LeaseKeeper&) = delete;
  ~LeaseKeeper();

  // Keeps `lease`, whose statement was sent at `sent_ns` (CLOCK_BOOTTIME).
  void hold(const queue::Lease& lease, Nanos sent_ns);
  void drop();

  // True while this process can be sure that nobody else may have the lease (S5).
  [[nodiscard]] bool valid() const {
    return (!lost_.load() && boot_ns() < deadline_ns_.load()) || db::without("lease_deadline");
  }
  [[nodiscard]] bool lost() const { return lost_.load(); }
  [[nodiscard]] Nanos deadline_ns() const { return deadline_ns_.load(); }

  // A task past this moment (CLOCK_BOOTTIME) is not worth renewing for; 0 = none runs.
  void set_task_deadline(Nanos hard_deadline_ns) { task_deadline_ns_.store(hard_deadline_ns); }

 private:
  void run();
  void renew(std::unique_lock<std::mutex>& held);
  void set_deadline(Nanos sent_ns);

  const queue::LeaseStore& store_;
  const db::ConnectOptions options_;
  const Nanos ttl_ns_;
  SlotWriter& slot_;

  std::atomic<bool> lost_{false};
  std::atomic<Nanos> deadline_ns_{0};
  std::atomic<Nanos> task_deadline_ns_{0};

  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::optional<queue::Lease> lease_;
  Nanos renew_at_ns_ = 0;
  Nanos slowest_trip_ns_ = 0;
  bool stop_ = false;

  std::optional<db::Connection> connection_;  // the keeper thread's only
  std::thread thread_;                        // last: it uses all of the above
};

}  // namespace allot::worker
