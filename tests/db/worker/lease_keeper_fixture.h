// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "db/stores.h"
#include "db/worker/fixture.h"
#include "peer/doorbell.h"
#include "support/eventually.h"
#include "worker/lease/lease_keeper.h"

namespace allot::worker {

// A keeper connected through that socket of the server, with leases and runs made by the test.
class LeaseKeeperTest : public WorkerTest {
 protected:
  using milliseconds = std::chrono::milliseconds;

  // A renewal waits for a third of the TTL.
  explicit LeaseKeeperTest(const std::string& socket = support::Database::shared().socket())
      : stores_(std::chrono::milliseconds(1200)),
        board_(std::make_unique<ipc::Board>()),
        keeper_(leases_, stores_.detached, options_at(socket), slot_, *board_) {
    peer::serve(board_->pools[0], {&queue_.queue_id, 1});
  }

  queue::Lease take(std::uint32_t number) {
    const Nanos sent = boot_ns();
    auto block = leases_.lease(db_, partition(number), {});
    EXPECT_TRUE(block.has_value());
    keeper_.keep(block->lease, sent);
    // A slow answer leaves the lease expired until it is renewed.
    EXPECT_TRUE(support::eventually([this] { return keeper_.valid(); }));
    return block->lease;
  }
  std::string expiry(std::uint32_t number) {
    return value("SELECT expire_at FROM q_lock_table WHERE partition_no = " +
                 std::to_string(number));
  }

  // A run of that task, which is to begin under the present lease.
  std::unique_ptr<worker::Run> run_of(const queue::Lease& lease, queue::Task& task,
                                      milliseconds detach_after = milliseconds(0),
                                      worker::Run::Plan plan = {.most = 10}) {
    plan.time_limit = std::chrono::hours(1);
    auto run = std::make_unique<worker::Run>(slot_, lease, served_, task, plan);
    run->detach_after_ns = static_cast<Nanos>(detach_after.count()) * kMilli;
    return run;
  }
  bool begin(worker::Run& run) {
    worker::Run* const one = &run;
    return keeper_.begin({&one, 1});
  }
  std::unique_ptr<worker::Run> begin(const queue::Lease& lease, queue::Task& task,
                                     milliseconds detach_after) {
    auto run = run_of(lease, task, detach_after);
    EXPECT_TRUE(support::eventually([&] { return begin(*run); }));
    return run;
  }
  // Waits for an active renewal, before the test does something that ends renewals.
  void wait_for_what_is_under_way() { static_cast<void>(keeper_.begin({})); }
  queue::Task task_at(std::uint64_t key) {
    put(partition(0), {1, key});
    queue::Task task;
    task.key = {1, key};
    return task;
  }
  [[nodiscard]] db::ConnectOptions options_at(const std::string& socket) const {
    db::ConnectOptions connect = options();
    connect.socket = socket;
    return connect;
  }
  std::string running() { return value("SELECT COUNT(*) FROM task_running"); }

  queue::Stores stores_;
  queue::LeaseStore& leases_ = stores_.leases;
  config::Queue config_;
  const ServedQueue served_{queue_, &config_};
  std::unique_ptr<ipc::Board> board_;
  LeaseKeeper keeper_;
};

}  // namespace allot::worker
