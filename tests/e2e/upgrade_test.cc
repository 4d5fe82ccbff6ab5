// SPDX-License-Identifier: Apache-2.0
// USR2: the supervisor is replaced under its workers.
// Rule: S25.
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <set>

#include "e2e/daemon.h"

namespace allot::e2e::upgrade_test {
namespace {

namespace fs = std::filesystem;
using support::eventually;
using support::ExitStatus;

// A daemon whose program can be replaced on disk.
class Upgrade : public testing::Test {
 protected:
  Upgrade() { install(program("allotd")); }

  void install(const std::string& file) const {
    fs::create_symlink(file, bin_ / "new");
    fs::rename(bin_ / "new", bin_ / "allotd");
  }

  [[nodiscard]] DaemonOptions of(unsigned workers) const {
    DaemonOptions options;
    options.workers = workers;
    options.allotd = bin_ / "allotd";
    return options;
  }

  // Sends the signal; `times`: total number of starts then, including the first one.
  static void upgrade(Daemon& daemon, std::size_t times) {
    daemon.process().signal(SIGUSR2);
    ASSERT_TRUE(eventually([&] { return daemon.times_logged("supervisor.start ") == times; }))
        << daemon.log();
  }

 private:
  support::TempDir bin_;
};

TEST_F(Upgrade, ALongTaskEndsInItsWorker) {
  Daemon daemon(of(2));
  wait_ready(daemon, 2);
  const auto workers = sorted_workers(daemon);
  (void)daemon.submit("test.gate", "success " + daemon.gate());
  ASSERT_TRUE(eventually([&] { return daemon.busy_workers().size() == 1; })) << daemon.log();
  const auto busy = daemon.busy_workers();
  upgrade(daemon, 2);
  EXPECT_EQ(daemon.busy_workers(), busy) << "it came while the task ran";
  daemon.open_gate();
  ASSERT_TRUE(eventually([&] { return daemon.drained(); })) << daemon.log();
  EXPECT_EQ(daemon.times_logged("task.ran"), 1U);
  EXPECT_EQ(daemon.count("task_attempt"), 0U) << "its first attempt was good";
  EXPECT_EQ(sorted_workers(daemon), workers);
  EXPECT_FALSE(daemon.logged("worker.orphaned"));
  EXPECT_EQ(daemon.stop(), (ExitStatus{0, 0})) << daemon.log();
  EXPECT_EQ(daemon.times_logged("supervisor.exit"), 1U);
}

TEST_F(Upgrade, AWorkerThatIsKilledRightAfterItIsSettled) {
  Daemon daemon(of(1));
  wait_ready(daemon, 1);
  (void)daemon.submit("test.hang_once", "x");
  ASSERT_TRUE(eventually([&] { return daemon.written().size() == 1; })) << daemon.log();
  const pid_t busy = daemon.busy_workers().front();
  daemon.process().signal(SIGUSR2);
  support::send_signal(busy, SIGKILL);
  ASSERT_TRUE(eventually([&] { return daemon.drained() && daemon.written().size() == 2; }))
      << daemon.log();
  EXPECT_EQ(daemon.written(), (std::vector<std::string>{"x attempt 1", "x attempt 2"}));
  EXPECT_TRUE(eventually([&] { return daemon.times_logged("supervisor.start ") == 2; }));
  EXPECT_TRUE(eventually([&] { return daemon.logged("worker.settled"); })) << daemon.log();
  EXPECT_EQ(daemon.stop(), (ExitStatus{0, 0})) << daemon.log();
}

TEST_F(Upgrade, TenUnderLoadLoseNothing) {
  Daemon daemon(of(3));
  wait_ready(daemon, 3);
  const auto workers = sorted_workers(daemon);
  constexpr std::size_t kTasks = 8000;
  daemon.submit_many("test.write", numbered(kTasks));
  for (std::size_t times = 2; times <= 11; ++times) upgrade(daemon, times);
  ASSERT_TRUE(daemon.drains()) << daemon.log();
  const auto written = daemon.written();
  EXPECT_EQ(written.size(), kTasks) << "each once";
  EXPECT_EQ(std::set<std::string>(written.begin(), written.end()).size(), kTasks);
  EXPECT_EQ(daemon.count("task_attempt"), 0U);
  EXPECT_EQ(sorted_workers(daemon), workers);
  EXPECT_EQ(daemon.times_logged(" WARN "), 0U) << daemon.log();
  EXPECT_EQ(daemon.stop(), (ExitStatus{0, 0})) << daemon.log();
}

TEST_F(Upgrade, ABrokenProgramChangesNothing) {
  Daemon daemon(of(1));
  wait_ready(daemon, 1);
  const auto workers = sorted_workers(daemon);
  install("/nonexistent/allotd");
  daemon.process().signal(SIGUSR2);
  ASSERT_TRUE(eventually([&] { return daemon.logged("upgrade.aborted"); })) << daemon.log();
  install(program("allot-worker"));  // starts, and knows nothing of it
  daemon.process().signal(SIGUSR2);
  ASSERT_TRUE(eventually([&] { return daemon.times_logged("upgrade.aborted") == 2; }))
      << daemon.log();
  daemon.submit_many("test.write", {"meanwhile"});
  ASSERT_TRUE(eventually([&] { return daemon.written().size() == 1; }));
  EXPECT_EQ(sorted_workers(daemon), workers);
  install(program("allotd"));
  upgrade(daemon, 2);
}

}  // namespace
}  // namespace allot::e2e::upgrade_test
