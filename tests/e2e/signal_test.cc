// SPDX-License-Identifier: Apache-2.0
// Rule: S21.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "base/unique_fd.h"
#include "e2e/daemon.h"

namespace allot::e2e::signal_test {
namespace {

using support::alive;
using support::eventually;
using support::ExitStatus;
using support::none_alive;

TEST(Signal, AGracefulStopLeavesNothingLeasedAndNothingRunning) {
  Daemon daemon({.workers = 4});
  wait_ready(daemon, 4);
  // Twenty seconds of work, so that some is left however long this test is delayed.
  std::vector<std::string> payloads(4000, "20");
  daemon.submit_many("test.sleep", payloads);
  ASSERT_TRUE(eventually([&] { return daemon.busy_workers().size() >= 2; }));
  const auto pids = daemon.workers();
  EXPECT_EQ(daemon.stop(), (ExitStatus{0, 0})) << daemon.log();
  EXPECT_TRUE(none_alive(pids));
  EXPECT_EQ(daemon.leases(), 0U);
  EXPECT_EQ(daemon.count("task_dead"), 0U);
  EXPECT_GT(daemon.count("task"), 0U) << "the rest waits";
}

TEST(Signal, AHandlerThatStopsWhenAskedIsChargedNoAttempt) {
  Daemon daemon({.workers = 1});
  const auto id = daemon.submit("test.sleep", "60000");
  ASSERT_TRUE(eventually([&] { return daemon.busy_workers().size() == 1; }));
  EXPECT_EQ(daemon.stop(), (ExitStatus{0, 0})) << daemon.log();
  const auto task = daemon.task(id);
  EXPECT_EQ(task["attempts_charged"], 0) << task;
  EXPECT_TRUE(task["attempts"].empty()) << task;
}

TEST(Signal, ASecondTermEndsAHandlerThatDoesNotLook) {
  Daemon daemon({.workers = 1});
  const auto id = daemon.submit("test.spin", "");
  ASSERT_TRUE(eventually([&] { return daemon.busy_workers().size() == 1; })) << daemon.log();
  daemon.process().signal(SIGTERM);
  ASSERT_TRUE(eventually([&] { return daemon.logged("phase=stopping"); }));
  EXPECT_EQ(daemon.stop(SIGTERM), (ExitStatus{0, 0})) << daemon.log();
  EXPECT_EQ(daemon.count("task"), 1U) << "nothing is lost";
  // Three seconds are left to the settler, and the next run of the daemon does the rest.
  EXPECT_TRUE(daemon.task(id)["attempts"].size() == 1U || daemon.logged("supervisor.unsettled"))
      << daemon.task(id) << daemon.log();
}

// Some of them have not installed their handlers when the stop arrives.
TEST(Signal, WorkersThatHaveJustStartedLeaveInOrder) {
  Daemon daemon({.workers = 24});
  ASSERT_TRUE(eventually([&] { return daemon.times_logged("worker.start") >= 12; }))
      << daemon.log();
  EXPECT_EQ(daemon.stop(), (ExitStatus{0, 0})) << daemon.log();
  EXPECT_EQ(daemon.times_logged("worker.died"), 0U) << daemon.log();
}

// Started like by its supervisor. The unread log keeps it from its handlers.
TEST(Signal, EarlySignalWaitsForTheHandlers) {
  Daemon daemon({.start = false});
  const std::string held = daemon.folder() + "/held";
  daemon.configure(daemon.folder() + "/log", held);
  ASSERT_EQ(mkfifo(held.c_str(), 0600), 0);
  support::Process worker({"env", "--block-signal=TERM,HUP,INT,CHLD,QUIT,USR1,USR2",
                           program("allot-worker"), "--run", "--config", daemon.config_file()});
  const auto name = [&] {
    return support::read_file("/proc/" + std::to_string(worker.pid()) + "/comm");
  };
  ASSERT_TRUE(eventually([&] { return name() == "allot-worker\n"; })) << name() << worker.err();
  worker.signal(SIGTERM);
  const UniqueFd reader(open(held.c_str(), O_RDWR | O_CLOEXEC));
  EXPECT_EQ(worker.wait(), (ExitStatus{0, 0})) << worker.err();
}

TEST(Signal, QuitStopsNow) {
  Daemon daemon({.workers = 1});
  (void)daemon.submit("test.spin", "");
  ASSERT_TRUE(eventually([&] { return daemon.busy_workers().size() == 1; }));
  EXPECT_EQ(daemon.stop(SIGQUIT), (ExitStatus{0, 0})) << daemon.log();
}

TEST(Signal, AHandlerThatDoesNotStopInTimeIsKilled) {
  Daemon daemon({.workers = 1, .daemon_keys = "stop_timeout = \"300ms\""});
  (void)daemon.submit("test.spin", "");
  ASSERT_TRUE(eventually([&] { return daemon.busy_workers().size() == 1; }));
  EXPECT_EQ(daemon.stop(), (ExitStatus{0, 0})) << daemon.log();
  EXPECT_TRUE(daemon.logged("did not stop in time"));
}

TEST(Signal, AReloadReplacesWorkersAndLeavesTheRunningTaskAlone) {
  Daemon daemon({.workers = 3});
  wait_ready(daemon, 3);
  const auto before = daemon.workers();
  (void)daemon.submit("test.gate", "ok " + daemon.gate());
  ASSERT_TRUE(eventually([&] { return daemon.busy_workers().size() == 1; }));
  const pid_t busy = daemon.busy_workers().front();
  daemon.process().signal(SIGHUP);
  wait_ready(daemon, 6);
  // All idle workers are gone while the busy one continues, and the new ones work.
  ASSERT_TRUE(eventually([&] {
    return std::count_if(before.begin(), before.end(), alive) == 1 && alive(busy);
  })) << daemon.log();
  daemon.submit_many("test.write", {"meanwhile"});
  ASSERT_TRUE(eventually([&] { return daemon.written().size() == 1; }));
  daemon.open_gate();
  ASSERT_TRUE(eventually([&] { return daemon.drained() && !alive(busy); })) << daemon.log();
  EXPECT_EQ(daemon.count("task_attempt"), 0U) << "it was neither stopped nor run again";
  EXPECT_FALSE(daemon.logged("asked to stop"));
}

TEST(Signal, AReloadWithABrokenConfigurationKeepsThePool) {
  Daemon daemon({.workers = 2});
  wait_ready(daemon, 2);
  const auto before = daemon.workers();
  std::ofstream(daemon.config_file(), std::ios::app) << "\n[queues.x]\npartitons = 3\n";
  daemon.process().signal(SIGHUP);
  ASSERT_TRUE(eventually([&] { return daemon.logged("reload.refused"); })) << daemon.log();
  EXPECT_TRUE(daemon.logged("partitons")) << daemon.log();
  for (const pid_t pid : before) EXPECT_TRUE(alive(pid));
}

TEST(Signal, NothingOutlivesASupervisorThatWasKilled) {
  Daemon daemon({.workers = 3});
  wait_ready(daemon, 3);
  (void)daemon.submit("test.sleep", "60000");
  ASSERT_TRUE(eventually([&] { return daemon.busy_workers().size() == 1; }));
  const auto pids = daemon.workers();
  daemon.process().kill9();
  EXPECT_TRUE(eventually([&] { return none_alive(pids); })) << daemon.log();
  EXPECT_EQ(daemon.count("task"), 1U);
  // The next run takes its leases over at once, whatever their TTL.
  daemon.start();
  ASSERT_TRUE(eventually([&] { return daemon.busy_workers().size() == 1; })) << daemon.log();
}

TEST(Signal, ASecondDaemonOfTheSameInstanceIsRefused) {
  Daemon daemon({.workers = 1});
  wait_ready(daemon, 1);
  const auto second = support::run_program({program("allotd"), "--config", daemon.config_file()});
  EXPECT_NE(second.status.code, 0);
  EXPECT_NE(second.err.find("instance.taken"), std::string::npos) << second.err;
}

}  // namespace
}  // namespace allot::e2e::signal_test
