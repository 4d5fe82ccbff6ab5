// SPDX-License-Identifier: Apache-2.0
// Charged attempts, and the records that are kept.
#include <gtest/gtest.h>

#include <csignal>

#include "e2e/daemon.h"

namespace allot::e2e::attempt_test {
namespace {

using support::eventually;

std::vector<std::string> causes(const nlohmann::json& task) {
  std::vector<std::string> causes;
  for (const auto& attempt : task["attempts"]) causes.push_back(attempt["cause"]);
  return causes;
}

TEST(Attempt, EachIsKeptWithItsCauseUntilTheTaskIsDead) {
  Daemon daemon(
      {.workers = 1, .queue_keys = "max_attempts = 5", .daemon_keys = "task_timeout = \"1s\""});
  const auto id = daemon.submit("test.misfortune", "");
  ASSERT_TRUE(eventually([&] { return daemon.count("task_dead") == 1; })) << daemon.log();
  const auto task = daemon.task(id);
  EXPECT_EQ(causes(task),
            (std::vector<std::string>{"retry", "exception", "signal", "exit", "timeout"}))
      << task;
  for (const auto& attempt : task["attempts"]) {  // B13
    EXPECT_TRUE(attempt["runtime_us"].is_number()) << attempt;
    const bool died = attempt["attempt"] > 2;
    EXPECT_EQ(attempt["cpu_us"].is_null(), died) << attempt;
    EXPECT_EQ(attempt["max_rss_kib"].is_null(), died) << attempt;
  }
  EXPECT_GE(task["attempts"][4]["runtime_us"], 900'000) << "its time limit is a second";
  EXPECT_EQ(task["state"], "dead");
  EXPECT_EQ(task["cause"], "timeout");
  // The same in human-readable form.
  const std::string text = daemon.allot({"task", "show", id}).out;
  std::size_t at = text.find("\nATTEMPT ");
  for (const char* why : {"retry: busy", "exception: std::runtime_error: out of luck",
                          "signal: worker killed by signal 11", "exit: worker exited with status 3",
                          "timeout: exceeded its time limit"}) {
    at = text.find(why, at);
    ASSERT_NE(at, std::string::npos) << why << " has no line, in this order, in\n" << text;
  }
}

TEST(Attempt, ThreeHundredAreCountedAndTheLastOneIsThat) {
  Daemon daemon({.workers = 1, .queue_keys = "max_attempts = 300\nretry_delays = [\"0s\"]"});
  const auto id = daemon.submit("test.retry", "no");
  ASSERT_TRUE(eventually([&] { return daemon.count("task_dead") == 1; }, std::chrono::seconds(90)))
      << daemon.log();
  const auto task = daemon.task(id);
  ASSERT_EQ(task["attempts"].size(), 300U) << task;
  EXPECT_EQ(task["attempts"][299]["attempt"], 300);
}

// An uncharged run is still counted: a task that crashes between two snoozes ends.
TEST(Attempt, SnoozesAndReleasesHideNoCrash) {
  for (const char* how : {"snooze", "release"}) {
    Daemon daemon({.workers = 1, .queue_keys = "max_attempts = 3"});
    const auto id = daemon.submit("test.slip", how);
    ASSERT_TRUE(eventually([&] { return daemon.count("task_dead") == 1; })) << daemon.log();
    EXPECT_EQ(causes(daemon.task(id)), std::vector<std::string>(3, "signal")) << how;
    const std::string event = std::string(how) == "snooze" ? "task.snoozed" : "task.released";
    EXPECT_EQ(daemon.times_logged(event), 3U) << how;
  }
}

// A power cut: no process is left to settle, and no handler ends in an orderly way.
void lose_host(Daemon& daemon) {
  for (const pid_t worker : kill_all_of(daemon)) {
    ASSERT_TRUE(eventually([&] { return support::gone(worker); })) << worker;
  }
}

// S7. Nothing is written when a task starts, so the cause of the first loss is unknown; after it
// each attempt is recorded before it starts, and the task that kills the host again is dead.
TEST(Attempt, ATaskThatTakesItsHostDownIsFound) {
  Daemon daemon({.workers = 1, .queue_keys = "max_attempts = 1"});
  const auto id = daemon.submit("test.hang_once", "x");
  for (std::size_t losses = 1; losses <= 2; ++losses) {
    ASSERT_TRUE(eventually([&] { return daemon.written().size() == losses; })) << daemon.log();
    const auto expected =
        losses == 1 ? std::vector<std::string>{} : std::vector<std::string>{"running"};
    EXPECT_EQ(causes(daemon.task(id)), expected);
    lose_host(daemon);
    daemon.start();
  }
  ASSERT_TRUE(eventually([&] { return daemon.count("task_dead") == 1; })) << daemon.log();
  const auto task = daemon.task(id);
  EXPECT_EQ(causes(task), std::vector<std::string>{"lost"}) << task;
  EXPECT_EQ(task["cause"], "lost") << task;
  EXPECT_EQ(daemon.written().size(), 2U) << "at most once more";
}

// S5. The database is stopped: the worker cannot know that the lease is still its own.
TEST(Attempt, InAnExclusiveQueueEndsWithItsLease) {
  support::Database server;
  Daemon daemon({.workers = 1,
                 .queue_keys = "exclusive = true\nmax_attempts = 1",
                 .daemon_keys = "lease_ttl = \"6s\"",
                 .server = &server});
  const auto id = daemon.submit("test.hang_once", "x");
  ASSERT_TRUE(eventually([&] { return daemon.written().size() == 1; })) << daemon.log();
  support::send_signal(server.pid(), SIGSTOP);
  EXPECT_TRUE(eventually([&] { return daemon.logged("lease may be lost in an exclusive queue"); }))
      << daemon.log();
  support::send_signal(server.pid(), SIGCONT);
  ASSERT_TRUE(eventually([&] { return daemon.count("task_dead") == 1; })) << daemon.log();
  EXPECT_EQ(causes(daemon.task(id)), std::vector<std::string>{"lease"}) << daemon.log();
}

}  // namespace
}  // namespace allot::e2e::attempt_test
