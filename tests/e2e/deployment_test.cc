// SPDX-License-Identifier: Apache-2.0
// A new type is deployed host by host: instances that know it work next to others that do not.
// Rules: S65, S66.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "e2e/daemon.h"

namespace allot::e2e::deployment_test {
namespace {

using support::eventually;
using Clock = std::chrono::steady_clock;
namespace fs = std::filesystem;

// Less than the 30 s of a task that is put back, also on a busy machine.
constexpr std::chrono::seconds kSoon{20};

// The instance `old` has the probe plugin. A new one also has exec, and with it the type "new",
// which writes a line.
class Deployment : public ::testing::Test {
 protected:
  Deployment() {
    fs::copy_file(probe_folder() + "/probe.so", plugins_ / "probe.so");
    fs::copy_file(exec_plugin(), plugins_ / "exec.so");
  }

  [[nodiscard]] DaemonOptions new_one(const Daemon& old, DaemonOptions options) const {
    options.more = "[plugins.exec.types.new]\ncommand = [\"/bin/sh\", \"-c\", '''echo x >> " +
                   (plugins_ / "ran") + "''']\n";
    options.plugins = plugins_.path();
    options.migrate = false;
    options.database = old.database();
    return options;
  }
  [[nodiscard]] std::size_t ran() const {
    const std::string lines = support::read_file(plugins_ / "ran");
    return static_cast<std::size_t>(std::count(lines.begin(), lines.end(), '\n'));
  }

  support::TempDir plugins_;
};

TEST_F(Deployment, AnInstanceWithoutTheTypeDelaysNone) {
  const DaemonOptions options{.queue_keys = "partitions = 8"};
  Daemon old(options);
  Daemon with_it(new_one(old, options));
  wait_ready(old, 2);
  wait_ready(with_it, 2);
  const auto submitted = Clock::now();
  old.submit_many("new", numbered(40));
  ASSERT_TRUE(eventually([&] { return ran() == 40; }, std::chrono::seconds(100)));
  EXPECT_LT(Clock::now() - submitted, kSoon);
}

// At first no instance knows it: a new instance calls its tasks forward, a block at a time.
TEST_F(Deployment, AnInstanceThatBringsTheTypeCallsForwardWhatWasPutBack) {
  const DaemonOptions options{.queue_keys = "partitions = 2\nblock_size = 10"};
  Daemon old(options);
  old.submit_many("new", numbered(60));
  ASSERT_TRUE(eventually([&] {
    return old.number("SELECT COUNT(*) FROM task WHERE flags & 128") == 60;
  })) << old.log();
  const auto began = Clock::now();
  Daemon with_it(new_one(old, options));
  ASSERT_TRUE(eventually([&] { return ran() == 60; }, std::chrono::seconds(100)));
  EXPECT_LT(Clock::now() - began, kSoon);
  EXPECT_GE(with_it.times_logged("task.called_forward"), 6U) << with_it.log();
  EXPECT_TRUE(eventually([&] { return with_it.count("deferred_type") == 0; }));
}

// Each of two instances lacks the other's types, and the tasks are mixed in the partitions.
TEST_F(Deployment, TwoThatLackEachOthersTypesRunAll) {
  const DaemonOptions options{.queue_keys = "partitions = 4"};
  Daemon old(options);
  fs::remove(plugins_ / "probe.so");
  Daemon with_it(new_one(old, options));
  wait_ready(old, 2);
  wait_ready(with_it, 2);
  const auto submitted = Clock::now();
  std::vector<nlohmann::json> tasks;
  for (int i = 0; i < 100; ++i) {
    tasks.push_back({{"type", i % 2 == 0 ? "new" : "test.write"}, {"payload", "x"}});
  }
  old.submit_all(tasks);
  ASSERT_TRUE(eventually([&] { return ran() == 50 && old.written().size() == 50; },
                         std::chrono::seconds(100)));
  EXPECT_LT(Clock::now() - submitted, kSoon);
}

// In an ordered queue the partition waits instead, and an instance with the type need not wait.
TEST_F(Deployment, NorDoesItDelayAnOrderedQueue) {
  const DaemonOptions options{.queue_keys = "placement = \"ordered\"\npartitions = 4"};
  Daemon old(options);
  Daemon with_it(new_one(old, options));
  wait_ready(old, 2);
  wait_ready(with_it, 2);
  const auto submitted = Clock::now();
  std::vector<nlohmann::json> tasks;
  for (int i = 0; i < 12; ++i) {
    tasks.push_back({{"type", "new"}, {"payload", "x"}, {"partition_key", std::to_string(i)}});
  }
  old.submit_all(tasks);
  ASSERT_TRUE(eventually([&] { return ran() == 12; }, std::chrono::seconds(100)));
  EXPECT_LT(Clock::now() - submitted, kSoon);
}

// Ahead of a known task there are 10,000 unknown ones; later tasks are not blocked by them.
TEST_F(Deployment, TenThousandOfAnUnknownTypeStopNoOtherTask) {
  Daemon old({.workers = 1, .queue_keys = "partitions = 1", .log_level = "info", .start = false});
  old.submit_many("new", numbered(10'000));
  (void)old.submit("test.write", "first");
  const auto began = Clock::now();
  old.start();
  ASSERT_TRUE(eventually([&] { return old.written().size() == 1; }, std::chrono::seconds(100)));
  EXPECT_LT(Clock::now() - began, kSoon);
  (void)old.submit("test.write", "second");
  const auto second = Clock::now();
  ASSERT_TRUE(eventually([&] { return old.written().size() == 2; }, std::chrono::seconds(100)));
  EXPECT_LT(Clock::now() - second, kSoon);
}

}  // namespace
}  // namespace allot::e2e::deployment_test
