// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "db/worker/fixture.h"
#include "db/worker/parts.h"

namespace allot::worker {

// Runs one task in a handler of a test plugin, as the block loop does.
class RunTest : public WorkerTest {
 protected:
  // The plugin `name` in `folder`.
  RunTest(const std::string& folder, const std::string& name,
          std::chrono::milliseconds ttl = std::chrono::seconds(30))
      : registry_(plugin_host::Registry::load(folder, {{name, {{"output", "/dev/null"}}}})),
        board_(std::make_unique<ipc::Board>()),
        parts_(options(), slot_, registry_, *board_, ttl, std::chrono::seconds(1)) {
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
  // Runs all tasks of the block in one job, and updates the block.
  std::vector<TaskEnd> run_all(queue::Block& block, bool careful = false) {
    Job job{.lease = block.lease,
            .queue = std::make_shared<const ServedQueue>(served_),
            .tasks = std::move(block.tasks)};
    job.fetched_ns = boot_ns();
    job.careful = careful;
    job.sole = true;
    const auto ends = runner_.run(job);
    block.tasks = std::move(job.tasks);
    return ends;
  }
  TaskEnd::Result run(queue::Block& block, bool careful) {
    return run_all(block, careful).at(0).result;
  }
  std::string task() {
    return value("SELECT CONCAT(run_key, ' ', attempt, ' ', COALESCE(first_key, '-')) FROM task");
  }

  config::Queue config_;
  ServedQueue served_;
  plugin_host::Registry registry_;
  std::unique_ptr<ipc::Board> board_;
  WorkerParts parts_;
  config::Settings& settings_ = parts_.settings;
  queue::LeaseStore& leases_ = parts_.stores.leases;
  queue::Verbs& tasks_ = parts_.stores.tasks;
  queue::DetachedStore& detached_ = parts_.stores.detached;
  process::Session& session_ = parts_.session;
  LeaseKeeper& keeper_ = parts_.keeper;
  JobRunner& runner_ = parts_.runner;
};

}  // namespace allot::worker
