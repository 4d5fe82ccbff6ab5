// SPDX-License-Identifier: Apache-2.0
// History (C10): finished tasks are remembered for the time set for their queue.
#include <gtest/gtest.h>

#include <csignal>

#include "e2e/daemon.h"

namespace allot::e2e::history_test {
namespace {

using nlohmann::json;
using support::eventually;

json history(const Daemon& daemon, std::vector<std::string> more = {}) {
  more.insert(more.begin(), {"history", "--json"});
  return json::parse(daemon.must(more));
}

TEST(History, FinishedTasksAreShown) {
  Daemon daemon({.workers = 1, .queue_keys = "history = \"7d\"\nmax_attempts = 5"});
  const auto id = daemon.submit("test.write", "hello");
  ASSERT_TRUE(eventually([&] { return daemon.count("task_history") == 1; })) << daemon.log();
  const json shown = daemon.task(id);
  EXPECT_EQ(shown["state"], "done") << shown;
  EXPECT_EQ(shown["attempt"], 1) << shown;
  EXPECT_TRUE(shown["runtime_us"].is_number()) << shown;
  EXPECT_TRUE(shown["cpu_us"].is_number()) << shown;
  EXPECT_GT(shown["max_rss_kib"], 1000) << shown;
  EXPECT_NE(daemon.allot({"task", "show", id}).out.find("state      done"), std::string::npos);
  ASSERT_NE(daemon.submit("test.ok", ""), "");
  ASSERT_TRUE(eventually([&] { return history(daemon, {"--type", "test.ok"}).size() == 1; }));
  EXPECT_EQ(history(daemon, {"--limit", "1"}).size(), 1U);
  EXPECT_EQ(history(daemon, {"--after", id}).size(), 0U) << "it was the first";
  daemon.stop();
}

TEST(History, AFailedAttemptStaysWithIt) {
  Daemon daemon({.workers = 1, .queue_keys = "history = \"1h\"\nmax_attempts = 2"});
  const auto id = daemon.submit("test.bloat", "100");
  ASSERT_TRUE(eventually([&] { return daemon.count("task_history") == 1; })) << daemon.log();
  const json shown = daemon.task(id);
  EXPECT_EQ(shown["attempt"], 2) << shown;
  ASSERT_EQ(shown["attempts"].size(), 1U) << shown;
  EXPECT_EQ(shown["attempts"][0]["cause"], "retry");
  EXPECT_TRUE(daemon.drained());
  EXPECT_EQ(daemon.count("task_moved"), 0U);
  daemon.stop();
}

TEST(History, ATaskThatDetachedIsRemembered) {
  Daemon daemon({.workers = 1, .queue_keys = "history = \"1h\"\ndetach_after = \"50ms\""});
  const auto id = daemon.submit("test.gate", "success " + daemon.gate());
  ASSERT_TRUE(detached(daemon)) << daemon.log();
  daemon.open_gate();
  ASSERT_TRUE(eventually([&] { return daemon.count("task_history") == 1; })) << daemon.log();
  EXPECT_GE(daemon.task(id)["runtime_us"], 50'000);
  daemon.stop();
}

// Any process may acknowledge: the worker, its settler, or the worker that runs the task again.
TEST(History, NothingIsMissingWhenWorkersAreKilled) {
  const std::vector<std::string> paced(200, "x");
  std::size_t tasks = 1500;
  Daemon daemon({.workers = 3,
                 .queue_keys = "history = \"1h\"\npartitions = 4\nmax_attempts = 50",
                 .log_level = "info",
                 .start = false});
  ASSERT_EQ(daemon.allot({"migrate"}).status.code, 0);
  daemon.submit_many("test.ok", std::vector<std::string>(tasks, "x"));
  daemon.start();
  int kills = 0;
  ASSERT_TRUE(eventually(
      [&] {
        for (const pid_t worker : daemon.workers()) {
          if (kills < 15 && worker > 0 && support::send_signal(worker, SIGKILL) == 0) ++kills;
        }
        if (!daemon.drained()) return false;
        if (kills > 2) return true;
        daemon.submit_many("test.pace", paced);  // they were done before enough had been killed
        tasks += paced.size();
        return false;
      },
      std::chrono::seconds(120)))
      << daemon.log();
  EXPECT_EQ(daemon.count("task_history"), tasks);
  EXPECT_EQ(daemon.count("task_dead"), 0U);
  daemon.stop();
}

TEST(History, ItIsPurgedInBatchesWhileTasksRun) {
  const std::string keys = "history = \"1h\"\ndead_retention = \"1h\"\npartitions = 4\n";
  Daemon daemon({.workers = 2, .queue_keys = keys, .log_level = "info", .start = false});
  ASSERT_EQ(daemon.allot({"migrate"}).status.code, 0);
  auto db = daemon.connect();
  db.execute(
      "INSERT INTO task_history SELECT queue_id, seq % 4, 1, seq, 2, 'old', UTC_TIMESTAMP(6) -"
      " INTERVAL 2 HOUR, 'h', 1, NULL, NULL, NULL, NULL FROM queue, " +
      support::numbers(1, 8000) +
      ";"
      "INSERT INTO task_attempt SELECT queue_id, partition_no, prio, first_key, 0, 1,"
      " UTC_TIMESTAMP(6), 'retry', '', 'h', 1, NULL, NULL, NULL, NULL, '', '', NULL FROM "
      "task_history;"
      "INSERT INTO task_dead (queue_id, partition_no, prio, first_key, attempt, type, payload, "
      "cause,"
      " error, died_at) SELECT queue_id, 0, 1, seq, 1, 'old', '', 'fail', '',"
      " UTC_TIMESTAMP(6) - INTERVAL IF(seq <= 300, 2, 0) HOUR FROM queue, " +
      support::numbers(1, 310));
  Daemon other({.workers = 2,
                .queue_keys = keys,
                .log_level = "info",
                .start = false,
                .database = daemon.database()});
  const auto doctor = daemon.allot({"doctor"});
  EXPECT_NE(doctor.out.find("history: queue default: "), std::string::npos) << doctor.out;
  daemon.submit_many("test.pace", std::vector<std::string>(300, "x"));
  daemon.start();
  other.start();
  ASSERT_TRUE(eventually(
      [&] {
        return daemon.drained() && daemon.count("task_history") == 300 &&
               daemon.count("task_dead") == 10;
      },
      std::chrono::seconds(60)))
      << daemon.count("task_history") << " " << daemon.count("task_dead") << daemon.log();
  EXPECT_EQ(daemon.count("task_attempt"), 0U);
  EXPECT_FALSE(daemon.logged("deadlock") || other.logged("deadlock"));
  EXPECT_FALSE(daemon.logged("database.retry") || other.logged("database.retry"));
  EXPECT_EQ(daemon.count("queue_duty WHERE duty = 'purge'"), 1U);
  daemon.stop();
  other.stop();
}

}  // namespace
}  // namespace allot::e2e::history_test
