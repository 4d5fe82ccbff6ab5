// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>
#include <string>
#include <utility>

#include "base/clock.h"
#include "db/stores.h"
#include "db/worker/fixture.h"
#include "db/worker/write_run.h"
#include "worker/settle/settle.h"

namespace allot::worker {

inline constexpr int kKilled = SIGKILL;  // as a wait status

class SettleTest : public WorkerTest {
 protected:
  SettleTest() : stores_(std::chrono::seconds(30)) {
    settings_.database.socket = options().socket;
    settings_.database.user = options().user;
    settings_.database.name = name_;
    settings_.daemon.runtime_dir = "/nonexistent";
    config::Queue queue;
    queue.name = "q";
    settings_.queues.push_back(queue);
    slot_.start(leases_.holder());
  }

  // The dead worker's last lease, as in its slot.
  queue::Block lease(std::uint32_t number) {
    slot_.begin_lease(partition(number), "q", false);
    auto block = leases_.lease(db_, partition(number), {});
    EXPECT_TRUE(block.has_value());
    slot_.lease_known(block->lease.epoch, 0);
    return std::move(*block);
  }
  void settle_it(int status = kKilled, ipc::Board* board = nullptr) {
    settle(settings_, *raw_slot_, {status}, board);
  }
  // As settle_it(), for a worker killed by the kernel's out-of-memory killer.
  void settle_out_of_memory(const std::string& how, int status = kKilled) {
    settle(settings_, *raw_slot_, {status, how}, nullptr);
  }
  // The only task already has an attempt.
  void charged_before(const std::string& cause) {
    db_.execute(
        "UPDATE task SET attempt = 1;"
        "INSERT INTO task_attempt SELECT queue_id, partition_no, prio, run_key, 0, 1,"
        " UTC_TIMESTAMP(6), '" +
        cause + "', '', 'h', 1, NULL, NULL, NULL, NULL, '', '', NULL FROM task");
  }
  std::string state(std::uint32_t number) {
    return value("SELECT state FROM q_lock_table WHERE partition_no = " + std::to_string(number));
  }

  // The dead worker's task, detached during its attempt `attempt`.
  queue::Task detach(std::uint32_t attempt, std::uint32_t most) {
    put(partition(0), {1, 1});
    put(partition(0), {1, 2});
    db_.execute("UPDATE task SET attempt = " + std::to_string(attempt - 1));
    const auto block = lease(0);
    begin_run(slot_, block.tasks[0], attempt, most, 0, 0);
    EXPECT_EQ(detached_.detach(db_, queue::fence(block.lease, block.tasks[0]), attempt, {}),
              queue::Fenced::kWritten);
    return block.tasks[0];
  }

  config::Settings settings_;
  queue::Stores stores_;
  queue::LeaseStore& leases_ = stores_.leases;
  queue::Verbs& tasks_ = stores_.tasks;
  queue::DetachedStore& detached_ = stores_.detached;
};

}  // namespace allot::worker
