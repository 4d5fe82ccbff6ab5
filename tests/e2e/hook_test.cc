// SPDX-License-Identifier: Apache-2.0
// Hooks (C9): every death, of any kind, submits one task, and stuck tasks are reported.
#include <gtest/gtest.h>

#include <csignal>
#include <map>
#include <set>
#include <thread>

#include "e2e/daemon.h"

namespace allot::e2e::hook_test {
namespace {

using nlohmann::json;
using support::eventually;

const std::string kHook = "on_dead = \"ops/alert\"\n";

std::vector<json> alerts(const Daemon& daemon) {
  auto db = daemon.connect();
  auto results = db.execute(
      "SELECT payload FROM task JOIN queue USING (queue_id) WHERE name = 'ops' AND type = 'alert'");
  std::vector<json> all;
  while (const auto row = results.front().next()) all.push_back(json::parse(row->text(0)));
  return all;
}

std::map<std::string, std::string> causes(const Daemon& daemon) {
  std::map<std::string, std::string> by_task;
  for (const json& alert : alerts(daemon)) {
    const bool once = by_task.emplace(alert.at("task"), alert.at("cause")).second;
    EXPECT_TRUE(once) << alert;
  }
  return by_task;
}

TEST(Hook, EachWayToDieFiresOnce) {
  Daemon daemon({.workers = 4,
                 .queue_keys = kHook + "max_attempts = 1\ndetach_after = \"100ms\"",
                 .more = "[types.\"test.spin\"]\ntask_timeout = \"2s\"\n",
                 .start = false});
  make_ops(daemon);
  ASSERT_EQ(daemon.allot({"migrate"}).status.code, 0);
  std::map<std::string, std::string> expected;
  const auto put = [&](const std::string& type, const std::string& payload,
                       const std::string& cause) {
    expected[daemon.submit(type, payload)] = cause;
  };
  put("test.fail", "", "fail");
  put("test.retry", "", "retry");
  put("test.throw", "", "exception");
  put("test.crash", "", "exit");
  put("test.spin", "", "timeout");
  put("test.gate", "fail " + daemon.gate(), "fail");     // detached
  put("test.gate", "retry " + daemon.gate(), "retry");   // detached, its last attempt
  put("test.gate", "crash " + daemon.gate(), "signal");  // detached, settled
  auto db = daemon.connect();
  const auto broken = daemon.submit("test.write", "no gzip");
  db.execute("UPDATE task SET flags = 4 WHERE type = 'test.write'");
  expected[broken] = "payload";
  const auto late = daemon.allot({"submit", "default", "test.print", "x", "--expires-in", "1s"});
  ASSERT_EQ(late.status.code, 0) << late.err;
  expected[late.out.substr(0, late.out.find('\n'))] = "expired";
  db.execute(
      "UPDATE task SET expires_at = UTC_TIMESTAMP(6) - INTERVAL 1 SECOND"
      " WHERE type = 'test.print'");
  const auto spent = daemon.submit("test.ok", "");
  db.execute("UPDATE task SET attempt = 5 WHERE type = 'test.ok'");
  expected[spent] = "lost";
  daemon.start();
  ASSERT_TRUE(eventually([&] {
    return daemon.value("SELECT COUNT(*) FROM task_running WHERE type = 'test.gate'") == "3";
  })) << daemon.log();
  daemon.open_gate();
  ASSERT_TRUE(eventually([&] { return daemon.count("task_dead") == expected.size(); },
                         std::chrono::seconds(60)))
      << daemon.log();
  EXPECT_EQ(causes(daemon), expected) << daemon.log();
  EXPECT_EQ(daemon.stop(), (support::ExitStatus{0, 0}));
}

TEST(Hook, OnceForEachDeathWhileWorkersAreKilled) {
  Daemon daemon({.workers = 3,
                 .queue_keys = kHook + "partitions = 4\nmax_attempts = 1\nblock_size = 20",
                 .log_level = "info",
                 .start = false});
  make_ops(daemon);
  const std::vector<std::string> batch(300, "x");
  std::size_t tasks = batch.size();
  ASSERT_EQ(daemon.allot({"migrate"}).status.code, 0);
  daemon.submit_many("test.fail", batch);
  daemon.start();
  int kills = 0;
  const bool over = eventually(
      [&] {
        for (const pid_t worker : daemon.workers()) {
          if (kills < 25 && worker > 0 && support::send_signal(worker, SIGKILL) == 0) ++kills;
        }
        if (daemon.count("task_dead") != tasks) return false;
        if (kills > 3) return true;
        daemon.submit_many("test.fail", batch);  // they died before enough had been killed
        tasks += batch.size();
        return false;
      },
      std::chrono::seconds(120));
  ASSERT_TRUE(over) << daemon.log();
  EXPECT_EQ(causes(daemon).size(), tasks);
  daemon.stop();
}

// A hook's task dies in a queue whose hook points to itself.
TEST(Hook, AHookThatDiesSetsOffNothing) {
  Daemon daemon({.workers = 2, .queue_keys = "on_dead = \"default/test.fail\"\nmax_attempts = 1"});
  ASSERT_NE(daemon.submit("test.throw", ""), "");
  ASSERT_TRUE(eventually([&] { return daemon.count("task_dead") == 2; })) << daemon.log();
  ASSERT_TRUE(eventually([&] { return daemon.drained(); }));
  EXPECT_EQ(daemon.count("task_dead"), 2U) << "the task, and the hook's; no third";
  daemon.stop();
}

// It still dies, and the log has the reason for the missing report.
TEST(Hook, AnUnknownTargetQueueIsLogged) {
  Daemon daemon({.workers = 1, .queue_keys = "on_dead = \"nowhere/alert\"\nmax_attempts = 1"});
  ASSERT_NE(daemon.submit("test.fail", ""), "");
  ASSERT_TRUE(eventually([&] { return daemon.count("task_dead") == 1; })) << daemon.log();
  EXPECT_TRUE(daemon.logged("hook.unusable")) << daemon.log();
  // Reported by the steward, which starts next to the workers.
  EXPECT_TRUE(eventually([&] { return daemon.logged("unknown queue nowhere"); })) << daemon.log();
  daemon.stop();
}

TEST(Hook, StuckTaskIsReportedOnce) {
  Daemon daemon({.workers = 2,
                 .queue_keys = "on_stuck = \"ops/alert\"\nstuck_after = \"1s\"\n"
                               "detach_after = \"100ms\"",
                 .start = false});
  make_ops(daemon);
  ASSERT_EQ(daemon.allot({"migrate"}).status.code, 0);
  const auto id = daemon.submit("test.sleep", "600000");
  auto db = daemon.connect();
  // On a busy machine the task waits for longer than stuck_after, which would also be reported. So
  // the check is suspended until it runs.
  db.execute(
      "INSERT INTO queue_duty (queue_id, duty, free_at)"
      " SELECT queue_id, 'stuck', '2025-01-01' FROM queue WHERE name = 'default'");
  db.execute("BEGIN; SELECT * FROM queue_duty FOR UPDATE");
  daemon.start();
  ASSERT_TRUE(detached(daemon)) << daemon.log();
  db.execute("COMMIT");
  ASSERT_TRUE(eventually([&] { return alerts(daemon).size() == 1; }, std::chrono::seconds(40)))
      << daemon.log();
  const json alert = alerts(daemon).front();
  EXPECT_EQ(alert.at("event"), "stuck") << alert;
  EXPECT_EQ(alert.at("state"), "running") << alert;
  EXPECT_EQ(alert.at("task"), id) << alert;
  EXPECT_EQ(alert.at("queue"), "default") << alert;
  // The check runs again, and finds that it was reported.
  ASSERT_TRUE(
      eventually([&] { return daemon.count("queue_duty WHERE last_run IS NOT NULL") > 0; }));
  db.execute("UPDATE queue_duty SET last_run = NULL");
  ASSERT_TRUE(eventually(
      [&] { return daemon.count("queue_duty WHERE duty = 'stuck' AND last_run IS NOT NULL") == 1; },
      std::chrono::seconds(40)));
  EXPECT_EQ(alerts(daemon).size(), 1U);
  EXPECT_EQ(daemon.times_logged("queue.stuck"), 1U);
  daemon.stop();
}

// Its pool was forgotten, or has no workers: no serving process could report it.
TEST(Hook, AQueueThatNoPoolServesIsStuck) {
  Daemon daemon({.workers = 1,
                 .pool_keys = "queues = [\"default\"]",
                 .more = "[queues.left]\non_stuck = \"ops/alert\"\nstuck_after = \"1s\"\n",
                 .start = false});
  make_ops(daemon);
  ASSERT_EQ(daemon.allot({"submit", "left", "test.ok"}).status.code, 0);
  daemon.start();
  ASSERT_TRUE(eventually([&] { return !alerts(daemon).empty(); }, std::chrono::seconds(40)))
      << daemon.log();
  EXPECT_EQ(alerts(daemon).front().at("state"), "waiting");
  EXPECT_EQ(alerts(daemon).front().at("queue"), "left");
  EXPECT_EQ(daemon.value("SELECT GROUP_CONCAT(duty) FROM queue_duty JOIN queue USING (queue_id)"
                         " WHERE name = 'left'"),
            "stuck");
  daemon.stop();
}

}  // namespace
}  // namespace allot::e2e::hook_test
