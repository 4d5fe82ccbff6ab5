// SPDX-License-Identifier: Apache-2.0
// USR2: allotd becomes the program that is on disk now, and its children do not notice (S25).
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>

#include "support/eventually.h"
#include "unit/supervisor/allotd.h"
#include "unit/supervisor/listener.h"

namespace allot::supervisor {
namespace {

namespace fs = std::filesystem;
using support::ExitStatus;

// Number of starts, including the first one.
bool started(const Allotd& daemon, std::size_t times) {
  return daemon.logged("supervisor.start ", times);
}

std::vector<pid_t> sorted_children(Allotd& daemon) {
  std::vector<pid_t> pids = children_of(daemon.process().pid());
  std::sort(pids.begin(), pids.end());
  return pids;
}

// Sorted descriptors of each process.
std::vector<std::string> descriptors(Allotd& daemon) {
  std::vector<std::string> found;
  for (const auto& entry :
       fs::directory_iterator("/proc/" + std::to_string(daemon.process().pid()) + "/fd")) {
    found.push_back(fs::read_symlink(entry.path()).string());
  }
  std::sort(found.begin(), found.end());
  return found;
}

TEST(AllotdUpgrade, KeepsItsPidItsWorkersAndTheirTasks) {
  Allotd daemon("pools=main:2,side:1");
  ASSERT_TRUE(daemon.logged("worker.ready", 3)) << daemon.story();
  ASSERT_TRUE(daemon.tell(0, "task"));
  const auto children = sorted_children(daemon);
  const std::string fresh = daemon.folder() / "fresh";
  fs::copy_file(ALLOT_ALLOTD, fresh);
  daemon.install("allotd", fresh);
  daemon.signal(SIGUSR2);
  ASSERT_TRUE(started(daemon, 2)) << daemon.story();
  EXPECT_EQ(daemon.logs("supervisor.start pid=" + std::to_string(daemon.process().pid())), 2U);
  const std::string self = "/proc/" + std::to_string(daemon.process().pid());
  EXPECT_EQ(fs::read_symlink(self + "/exe"), fresh);
  EXPECT_EQ(support::read_file(self + "/comm"), "allotd\n") << "a second one looks for that name";
  ASSERT_TRUE(daemon.tell(0, "finish"));
  EXPECT_EQ(sorted_children(daemon), children);
  for (const char* event : {"orphaned", "term", "hup", "leave", "settle"}) {
    EXPECT_EQ(daemon.seen(event), 0U) << daemon.story();
  }
  EXPECT_EQ(daemon.seen("check "), 2U) << "nothing but itself was checked again";
  // The new image knows all of them: it replaces them and stops them.
  daemon.signal(SIGHUP);
  ASSERT_TRUE(daemon.saw("leave slot=", 3)) << daemon.story();
  EXPECT_EQ(daemon.stop(), (ExitStatus{0, 0})) << daemon.story();
  EXPECT_EQ(daemon.seen("leave slot="), 6U) << daemon.story();
  EXPECT_EQ(daemon.logs("stray.kill"), 0U) << daemon.story();
}

TEST(AllotdUpgrade, ThenAStopWaitsForATaskFromBefore) {
  Allotd daemon;
  ASSERT_TRUE(daemon.logged("worker.ready")) << daemon.story();
  daemon.signal(SIGUSR2);
  ASSERT_TRUE(started(daemon, 2)) << daemon.story();
  EXPECT_EQ(daemon.stop(), (ExitStatus{0, 0})) << daemon.story();
  EXPECT_EQ(daemon.seen("term slot=0"), 1U);
  EXPECT_EQ(daemon.seen("leave slot=0"), 1U);
}

TEST(AllotdUpgrade, AWorkerThatDiesAroundItIsSettledAndReplaced) {
  Allotd daemon;
  for (std::size_t round = 1; round <= 8; ++round) {
    // The test waits for both, because the worker informs the supervisor first, and the events
    // after.
    ASSERT_TRUE(daemon.logged("worker.ready", round)) << daemon.story();
    ASSERT_TRUE(daemon.saw("ready slot=", round)) << daemon.story();
    const int slot = daemon.newest();
    ASSERT_TRUE(daemon.tell(slot, "task")) << daemon.story();
    const pid_t worker = daemon.pid_of("ready slot=");
    daemon.signal(SIGUSR2);
    // The kills come at different moments.
    ASSERT_TRUE(support::eventually([&, n = 0U]() mutable { return n++ >= round - 1; }));
    support::send_signal(worker, SIGKILL);
    ASSERT_TRUE(started(daemon, round + 1)) << daemon.story();
    ASSERT_TRUE(daemon.saw("settle slot=", round)) << daemon.story();
    EXPECT_EQ(daemon.logs("worker.died slot=" + std::to_string(slot) +
                          " pid=" + std::to_string(worker) + " signal=9"),
              1U)
        << daemon.story();
  }
  ASSERT_TRUE(daemon.logged("worker.ready", 9)) << daemon.story();
}

TEST(AllotdUpgrade, ManyInARowLeaveNoDescriptorBehind) {
  Allotd daemon("pools=main:2 log_file=log");
  ASSERT_TRUE(daemon.logged("worker.ready", 2)) << daemon.story();
  daemon.signal(SIGUSR2);
  ASSERT_TRUE(started(daemon, 2)) << daemon.story();
  ASSERT_TRUE(support::eventually([&] { return children_of(daemon.process().pid()).size() == 2; }));
  const auto before = descriptors(daemon);
  const auto children = sorted_children(daemon);
  for (std::size_t times = 3; times <= 12; ++times) {
    daemon.signal(SIGUSR2);
    ASSERT_TRUE(started(daemon, times)) << daemon.story();
  }
  EXPECT_TRUE(support::eventually([&] { return descriptors(daemon) == before; }))
      << testing::PrintToString(before) << testing::PrintToString(descriptors(daemon));
  EXPECT_EQ(sorted_children(daemon), children);
  // Refused upgrades also leave no process.
  daemon.install("allotd", "/bin/false");
  daemon.signal(SIGUSR2);
  ASSERT_TRUE(daemon.logged("upgrade.aborted")) << daemon.story();
  const std::size_t after_one = descriptors(daemon).size();
  for (std::size_t times = 2; times <= 4; ++times) {
    daemon.signal(SIGUSR2);
    ASSERT_TRUE(daemon.logged("upgrade.aborted", times)) << daemon.story();
  }
  EXPECT_TRUE(support::eventually([&] { return descriptors(daemon).size() <= after_one; }));
  EXPECT_EQ(daemon.stop(), (ExitStatus{0, 0}));
}

TEST(AllotdUpgrade, AnInvalidProgramIsRefusedAndThisOneContinues) {
  Allotd daemon;
  ASSERT_TRUE(daemon.saw("ready slot=0")) << daemon.story();
  const pid_t worker = daemon.pid_of("ready slot=0");
  std::size_t kept = 0;
  const auto refuses = [&](const std::string& program, const char* event) {
    daemon.install("allotd", program);
    daemon.signal(SIGUSR2);
    ASSERT_TRUE(daemon.logged("upgrade.aborted", ++kept)) << program << daemon.story();
    EXPECT_EQ(daemon.logs(event), 1U) << program << daemon.story();
  };
  refuses("/nonexistent/allotd", "program.missing");
  refuses(daemon.folder() / "script", "program.not_started");
  refuses("/bin/true", "upgrade.aborted code=0");  // only a program that answers is accepted
  refuses("/bin/false", "upgrade.aborted code=1");
  refuses(ALLOT_SCRIPTED_WORKER, "upgrade.aborted code=64");
  ASSERT_TRUE(daemon.tell(0, "task"));
  EXPECT_EQ(daemon.pid_of("did task"), worker);
  daemon.install("allotd", ALLOT_ALLOTD);
  daemon.signal(SIGUSR2);
  EXPECT_TRUE(started(daemon, 2)) << daemon.story();
  EXPECT_EQ(daemon.seen("orphaned"), 0U);
}

TEST(AllotdUpgrade, BeforeTheStartIsDoneItWaits) {
  Allotd daemon("check_database_exit=69");
  ASSERT_TRUE(daemon.logged("database.away")) << daemon.story();
  daemon.signal(SIGUSR2);
  ASSERT_TRUE(daemon.logged("supervisor.signal signal=12")) << daemon.story();
  daemon.set("check_database_exit", "0");
  EXPECT_TRUE(started(daemon, 2)) << daemon.story();
  EXPECT_TRUE(daemon.saw("ready slot=0")) << daemon.story();
  EXPECT_TRUE(daemon.logged("supervisor.ready")) << daemon.story();
}

TEST(AllotdUpgrade, DuringAReloadItWaitsAndNeitherIsLost) {
  Allotd daemon("pools=main:1");
  ASSERT_TRUE(daemon.logged("worker.ready")) << daemon.story();
  daemon.set("check_config_gate", "go");
  daemon.set("pools", "main:3");
  daemon.signal(SIGHUP);
  ASSERT_TRUE(daemon.saw("check config\n", 2)) << daemon.story();
  daemon.signal(SIGUSR2);
  ASSERT_TRUE(daemon.logged("supervisor.signal signal=12")) << daemon.story();
  EXPECT_EQ(daemon.logs("supervisor.start "), 1U);
  daemon.open("go");
  ASSERT_TRUE(started(daemon, 2)) << daemon.story();
  EXPECT_EQ(daemon.logs("pool.reload"), 1U);
  ASSERT_TRUE(daemon.saw("ready slot=", 4)) << daemon.story();
  ASSERT_TRUE(daemon.saw("leave slot=", 1)) << "the old one is still replaced" << daemon.story();
}

TEST(AllotdUpgrade, AReloadThatComesWithItIsNotLost) {
  Allotd daemon;
  ASSERT_TRUE(daemon.logged("worker.ready")) << daemon.story();
  for (std::size_t round = 1; round <= 5; ++round) {
    daemon.signal(SIGUSR2);
    daemon.signal(SIGHUP);
    ASSERT_TRUE(started(daemon, round + 1)) << daemon.story();
    ASSERT_TRUE(daemon.logged("pool.reload", round)) << daemon.story();
  }
}

TEST(AllotdUpgrade, WhileItStopsItIsIgnored) {
  Allotd daemon;
  ASSERT_TRUE(daemon.saw("ready slot=0")) << daemon.story();
  ASSERT_TRUE(daemon.tell(0, "deaf"));
  daemon.signal(SIGTERM);
  ASSERT_TRUE(daemon.logged("phase=stopping")) << daemon.story();
  daemon.signal(SIGUSR2);
  ASSERT_TRUE(daemon.logged("supervisor.signal signal=12 phase=stopping")) << daemon.story();
  EXPECT_EQ(daemon.stop(), (ExitStatus{0, 0})) << daemon.story();
  EXPECT_EQ(daemon.logs("supervisor.start "), 1U);
}

TEST(AllotdUpgrade, ASettlerContinues) {
  Allotd daemon("settle_gate=go");
  ASSERT_TRUE(daemon.logged("worker.ready")) << daemon.story();
  ASSERT_TRUE(daemon.tell(0, "task"));
  ASSERT_TRUE(daemon.tell(0, "signal 9"));
  ASSERT_TRUE(daemon.saw("settle slot=0")) << daemon.story();
  ASSERT_TRUE(daemon.logged("worker.ready", 2)) << daemon.story();
  daemon.signal(SIGUSR2);
  ASSERT_TRUE(started(daemon, 2)) << daemon.story();
  daemon.open("go");
  ASSERT_TRUE(support::eventually([&] { return children_of(daemon.process().pid()).size() == 1; }));
  // The slot is free again: the next worker gets it.
  daemon.signal(SIGHUP);
  ASSERT_TRUE(daemon.saw("ready slot=0", 2)) << daemon.story();
  EXPECT_EQ(daemon.seen("settle slot=0"), 1U) << daemon.story();
  EXPECT_EQ(daemon.logs("stray.kill"), 0U);
}

TEST(AllotdUpgrade, SystemdHearsNothingButSignsOfLife) {
  const support::TempDir dir;
  Listener systemd(dir / "n");
  Allotd daemon("", {"NOTIFY_SOCKET=" + (dir / "n"), "WATCHDOG_USEC=600000000"});
  ASSERT_EQ(systemd.receive_until("READY=1"), "READY=1") << daemon.story();
  ASSERT_NE(systemd.receive_until("1 workers ready"), "nothing");
  daemon.signal(SIGUSR2);
  // The next one is due only in five minutes: the new image sends its first at once.
  EXPECT_EQ(systemd.receive(), "WATCHDOG=1") << daemon.story();
  EXPECT_EQ(systemd.receive(),
            "STATUS=running: 1 workers ready, 0 starting, 0 leaving, 0 being "
            "settled");
  daemon.signal(SIGTERM);
  EXPECT_NE(systemd.receive().find("STOPPING=1"), std::string::npos) << "no second READY";
}

}  // namespace
}  // namespace allot::supervisor
