// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "db/worker/fixture.h"
#include "ipc/board.h"
#include "worker/lease_keeper.h"
#include "worker/session.h"
#include "worker/task_run.h"

namespace allot::worker {

// Runs one task in a handler of a test plugin, as the block loop does.
class RunTest : public WorkerTest {
 protected:
  // The plugin `name` in `folder`.
  RunTest(const std::string& folder, const std::string& name)
      : leases_(queue::make_holder("test", "/"), std::chrono::seconds(30)),
        tasks_(leases_.holder()),
        registry_(plugin_host::Registry::load(folder, {{name, {{"output", "/dev/null"}}}})),
        session_(options(), slot_, std::chrono::seconds(1)),
        detached_(leases_.holder(), leases_.ttl()),
        board_(std::make_unique<ipc::Board>()),
        keeper_(leases_, detached_, options(), slot_, *board_),
        runner_(session_, tasks_, detached_, registry_, keeper_, slot_, settings_) {
    config_.name = "q";
    config_.max_attempts = 2;
    served_ = {queue_, &config_};
  }

  // The only task of partition 0, leased but not yet in the keeper's hands.
  queue::Block lease() {
    auto block = leases_.lease(db_, partition(0), {});
    EXPECT_TRUE(block && block->tasks.size() == 1);
    return std::move(*block);
  }
  queue::TaskId put_task(const std::string& type, const std::string& payload = "x") {
    put(partition(0), {1, 7}, payload);
    db_.execute("UPDATE task SET type = '" + type + "'");
    return {partition(0), 1, 7};
  }
  TaskRun::Result run(queue::Block& block, bool careful) {
    return runner_.run(block.lease, served_, block.tasks.at(0), careful, {});
  }
  std::string task() {
    return value("SELECT CONCAT(run_key, ' ', attempt, ' ', COALESCE(first_key, '-')) FROM task");
  }

  config::Settings settings_;
  config::Queue config_;
  ServedQueue served_;
  queue::LeaseStore leases_;
  queue::TaskStore tasks_;
  plugin_host::Registry registry_;
  Session session_;
  queue::DetachedStore detached_;
  std::unique_ptr<ipc::Board> board_;
  LeaseKeeper keeper_;
  TaskRun runner_;
};

}  // namespace allot::worker
