// SPDX-License-Identifier: Apache-2.0
// The log file is moved away while the daemon works.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "base/unique_fd.h"
#include "e2e/daemon.h"
#include "support/text.h"

namespace allot::e2e::rotate_test {
namespace {

namespace fs = std::filesystem;
using support::eventually;
using support::ExitStatus;
using support::read_file;
using support::replaced;

bool done(const Daemon& daemon, std::size_t tasks) {
  return eventually([&] { return daemon.drained() && daemon.times_logged("task.ran") >= tasks; });
}

TEST(Rotate, SupervisorAndWorkersMoveToTheNewFile) {
  Daemon daemon({.workers = 2});
  wait_ready(daemon, 2);
  ASSERT_TRUE(eventually([&] { return daemon.logged("steward.ready"); })) << daemon.log();
  const std::string moved = daemon.folder() + "/log.1";
  fs::rename(daemon.folder() + "/log", moved);
  daemon.process().signal(SIGUSR1);
  ASSERT_TRUE(eventually([&] { return daemon.times_logged("worker log.reopened") == 3; }))
      << "two workers and the steward\n"
      << daemon.log() << read_file(moved);
  EXPECT_TRUE(daemon.logged("supervisor log.reopened"));
  const std::string before = read_file(moved);
  (void)daemon.submit("test.ok", "");
  (void)daemon.submit("test.print", "what a library prints");
  ASSERT_TRUE(done(daemon, 2)) << daemon.log();
  EXPECT_EQ(daemon.stop(), (ExitStatus{0, 0}));
  EXPECT_NE(read_file(daemon.folder() + "/log").find("what a library prints"), std::string::npos);
  EXPECT_TRUE(daemon.logged("supervisor.exit"));
  EXPECT_EQ(read_file(moved), before) << "the old file is no longer written";
}

TEST(Rotate, ARunningHandlerIsNotInterrupted) {
  Daemon daemon({.workers = 1});
  const std::string alarm = daemon.folder() + "/alarm";
  ASSERT_EQ(::mkfifo(alarm.c_str(), 0600), 0);
  const UniqueFd wakes(::open(alarm.c_str(), O_RDWR | O_CLOEXEC));
  const auto id = daemon.submit("test.nap", alarm);
  ASSERT_TRUE(eventually([&] { return daemon.busy_workers().size() == 1; })) << daemon.log();
  for (std::size_t i = 1; i <= 5; ++i) {
    daemon.process().signal(SIGUSR1);
    ASSERT_TRUE(eventually([&] { return daemon.times_logged("worker log.reopened") >= i; }))
        << daemon.log();
  }
  EXPECT_EQ(daemon.busy_workers().size(), 1U) << "all of them came while it slept";
  ASSERT_EQ(::write(wakes.get(), "x", 1), 1);
  ASSERT_TRUE(done(daemon, 1)) << daemon.log();
  EXPECT_FALSE(daemon.logged("interrupted"));
  EXPECT_EQ(daemon.count("task_attempt"), 0U) << "its first attempt was good";
}

TEST(Rotate, WorkersThatJustStartSurviveIt) {
  Daemon daemon({.workers = 2});
  wait_ready(daemon, 2);
  std::size_t ready = 2;
  for (int round = 0; round < 3; ++round) {
    daemon.process().signal(SIGHUP);
    ready += 2;
    ASSERT_TRUE(eventually([&] {
      daemon.process().signal(SIGUSR1);
      return daemon.times_logged("worker worker.ready") >= ready;
    })) << daemon.log();
  }
  EXPECT_EQ(daemon.times_logged(" WARN "), 0U) << daemon.log();
  EXPECT_EQ(daemon.stop(), (ExitStatus{0, 0}));
}

// The installed file, with this test's folder, user and way to signal.
TEST(Rotate, LogrotateDoesItWithOurFile) {
  Daemon daemon({.workers = 1});
  wait_ready(daemon, 1);
  ASSERT_TRUE(eventually([&] { return daemon.logged("steward.ready"); })) << daemon.log();
  const std::string user = getpwuid(getuid())->pw_name;
  const std::string group = std::to_string(getgid());
  std::string rules = read_file(std::string(ALLOT_SOURCE_DIR) + "/etc/logrotate");
  ASSERT_NE(rules.find("create 0640 allot allot"), std::string::npos) << rules;
  rules = replaced(rules, "/var/log/allot/*.log", daemon.folder() + "/log");
  rules = replaced(rules, " allot allot", " " + user + " " + user);
  rules = replaced(rules, "systemctl --quiet is-active allotd.service", "true");
  rules = replaced(rules, "systemctl kill --kill-who=main --signal=USR1 allotd.service",
                   "kill -USR1 " + std::to_string(daemon.process().pid()));
  const support::TempDir own;
  const std::string file = own.write("rules", rules);
  fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
  const auto rotated =
      support::run_program({"logrotate", "--verbose", "--force", "--state", own / "state", file});
  ASSERT_EQ(rotated.status, (ExitStatus{0, 0})) << rotated.err;
  ASSERT_TRUE(eventually([&] { return daemon.times_logged("worker log.reopened") == 2; }))
      << "the worker and the steward\n"
      << daemon.log() << rotated.err;
  EXPECT_EQ(fs::status(daemon.folder() + "/log").permissions(), fs::perms(0640));
  const std::string before = read_file(daemon.folder() + "/log.1");
  EXPECT_NE(before.find("supervisor.ready"), std::string::npos) << "not compressed yet";
  (void)daemon.submit("test.ok", "");
  ASSERT_TRUE(done(daemon, 1)) << daemon.log();
  EXPECT_EQ(read_file(daemon.folder() + "/log.1"), before);
}

}  // namespace
}  // namespace allot::e2e::rotate_test
