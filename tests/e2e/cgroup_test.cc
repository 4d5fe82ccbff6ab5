// SPDX-License-Identifier: Apache-2.0
// [daemon] cgroup: processes started by a handler end with its worker, however they hide.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "base/exit_codes.h"
#include "e2e/cgroups.h"
#include "e2e/daemon.h"

namespace allot::e2e::cgroup_test {
namespace {

using support::eventually;
using support::gone;

// Reason why these tests cannot run here; empty: they can.
std::string obstacle() {
  const std::string own = cgroup_of(::getpid());
  if (cgroup_mount_point().empty() || own.empty()) return "cgroup v2 is not mounted";
  const std::string folder = own + "/allot-test-" + std::to_string(::getpid());
  if (::mkdir(folder.c_str(), 0755) != 0) return "cannot make a cgroup in " + own;
  const bool kills = ::access((folder + "/cgroup.kill").c_str(), W_OK) == 0;
  ::rmdir(folder.c_str());
  return kills ? "" : "this kernel has no cgroup.kill";
}

// The processes started by test.burrow, with the pid of their worker.
struct Burrow {
  pid_t worker = 0;
  pid_t process = 0;
  pid_t child = 0;
  [[nodiscard]] bool empty() const { return gone(process) && gone(child); }
  [[nodiscard]] bool inhabited() const { return !gone(process) && !gone(child); }
};

class CgroupTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = obstacle(); !why.empty()) GTEST_SKIP() << why;
  }
  // A failed test leaves no process behind.
  void TearDown() override {
    for (const pid_t pid : {burrow_.process, burrow_.child}) {
      if (pid > 0) support::send_signal(pid, SIGKILL);
    }
  }

  Burrow dig(Daemon& daemon, const std::string& payload) {
    (void)daemon.submit("test.burrow", payload);
    EXPECT_TRUE(eventually([&] { return daemon.written().size() == 3; })) << daemon.log();
    const auto pids = daemon.written();
    if (pids.size() == 3) burrow_ = {std::stoi(pids[0]), std::stoi(pids[1]), std::stoi(pids[2])};
    EXPECT_TRUE(burrow_.inhabited()) << daemon.log();
    return burrow_;
  }

  // The process joins the group of the worker that does not run the handler.
  Burrow dig_beside(Daemon& daemon, const std::string& verb) {
    wait_ready(daemon, 2);
    const std::vector<pid_t> workers = daemon.workers();
    EXPECT_EQ(workers.size(), 2U);
    Burrow burrow = dig(
        daemon, std::to_string(workers.at(0)) + " " + std::to_string(workers.at(1)) + " " + verb);
    EXPECT_NE(::getpgid(burrow.process), burrow.worker);
    return burrow;
  }

 private:
  Burrow burrow_;
};

TEST_F(CgroupTest, EndsWhatTheSupervisorDoesNotFind) {
  Daemon daemon({.workers = 2, .daemon_keys = "cgroup = true"});
  const Burrow burrow = dig_beside(daemon, "hang");
  EXPECT_EQ(
      cgroup_of(burrow.worker).rfind(cgroup_of(daemon.process().pid()) + "/allot-default-", 0), 0U)
      << cgroup_of(burrow.worker);
  EXPECT_EQ(cgroup_of(burrow.child), cgroup_of(burrow.worker));
  {
    // Settlers cannot finish, so the slot gets no worker.
    const support::Database::Stall stall(support::Database::shared());
    support::send_signal(burrow.worker, SIGKILL);
    EXPECT_TRUE(eventually([&] { return burrow.empty(); })) << daemon.log();
  }
  EXPECT_TRUE(eventually([&] { return daemon.drained(); })) << daemon.log();
  EXPECT_EQ(daemon.times_logged("worker.died"), 1U) << "its neighbour lives\n" << daemon.log();
  // Ready workers remove their folders when they exit.
  wait_ready(daemon, 3);
  EXPECT_EQ(daemon.stop(), (support::ExitStatus{0, 0}));
}

TEST_F(CgroupTest, EndsWhatWasLeftByAWorkerThatLeaves) {
  Daemon daemon({.workers = 2, .daemon_keys = "cgroup = true"});
  const Burrow burrow = dig_beside(daemon, "leave");
  const std::string folder = cgroup_of(burrow.worker);
  ASSERT_TRUE(eventually([&] { return daemon.drained(); })) << daemon.log();
  EXPECT_TRUE(burrow.inhabited()) << "with its worker, not with its task";
  support::send_signal(burrow.worker, SIGTERM);
  EXPECT_TRUE(eventually([&] { return burrow.empty(); })) << daemon.log();
  EXPECT_TRUE(eventually([&] {
    return daemon.logged("pid=" + std::to_string(burrow.worker) + " exit=0");
  })) << daemon.log();
  EXPECT_EQ(daemon.stop(), (support::ExitStatus{0, 0}));
  EXPECT_FALSE(std::filesystem::exists(folder));
}

// They are not searched for, and there is nothing to settle.
TEST_F(CgroupTest, TheNextWorkerOfTheSlotEndsWhatAFormerLifeLeft) {
  Daemon daemon({.workers = 1, .daemon_keys = "cgroup = true"});
  const Burrow burrow = dig(daemon, "0 0 leave");
  ASSERT_TRUE(eventually([&] { return daemon.drained(); })) << daemon.log();
  daemon.process().signal(SIGSTOP);
  support::send_signal(burrow.worker, SIGKILL);
  daemon.process().kill9();
  ASSERT_TRUE(eventually([&] { return gone(burrow.worker); }));
  EXPECT_TRUE(burrow.inhabited());
  daemon.start();
  EXPECT_TRUE(eventually([&] { return burrow.empty(); })) << daemon.log();
  EXPECT_EQ(daemon.stop(), (support::ExitStatus{0, 0}));
}

// Breaks cgroups only for the processes that this starts.
support::Finished run_where(const std::string& spoil, std::vector<std::string> command) {
  command.insert(command.begin(),
                 {"unshare", "--mount", "sh", "-c", spoil + " && exec \"$@\"", "sh"});
  return support::run_program(std::move(command));
}

class SpoiltCgroupTest : public testing::Test {
 protected:
  void SetUp() override {
    if (cgroup_mount_point().empty()) GTEST_SKIP() << "cgroup v2 is not mounted";
    if (run_where("true", {"true"}).status.code != 0) GTEST_SKIP() << "cannot unshare mounts";
  }
  Daemon daemon_{{.daemon_keys = "cgroup = true", .start = false}};
  std::string read_only_ = "mount -o remount,bind,ro " + cgroup_mount_point();
  std::string unmounted_ = "umount --lazy " + cgroup_mount_point();

  [[nodiscard]] support::Finished start(const std::string& spoil) const {
    return run_where(spoil, {program("allotd"), "--config", daemon_.config_file()});
  }
  [[nodiscard]] support::Finished check(const std::string& spoil) const {
    return run_where(spoil, {program("allot"), "--config", daemon_.config_file(), "check"});
  }
};

TEST_F(SpoiltCgroupTest, AStartIsRefusedWhereNoneCanBeMade) {
  const auto done = start(read_only_);
  EXPECT_EQ(done.status.code, kExitConfig) << done.err;
  EXPECT_NE(done.err.find("[daemon] cgroup = true: cannot make " + cgroup_of(::getpid())),
            std::string::npos)
      << done.err;
  EXPECT_NE(done.err.find("Delegate=yes and ProtectControlGroups=no"), std::string::npos)
      << done.err;
}

TEST_F(SpoiltCgroupTest, AStartIsRefusedWithoutVersionTwo) {
  const auto done = start(unmounted_);
  EXPECT_EQ(done.status.code, kExitConfig) << done.err;
  EXPECT_NE(done.err.find("[daemon] cgroup = true: no cgroup v2"), std::string::npos) << done.err;
}

// A user's shell is in another cgroup than the service.
TEST_F(SpoiltCgroupTest, ForAPersonOnlyTheSecondIsAMistake) {
  const auto warned = check(read_only_);
  EXPECT_EQ(warned.status.code, kExitOk) << warned.err;
  EXPECT_NE(warned.err.find("warning: [daemon] cgroup = true: cannot make"), std::string::npos)
      << warned.err;
  EXPECT_EQ(check(unmounted_).status.code, kExitConfig);
}

}  // namespace
}  // namespace allot::e2e::cgroup_test
