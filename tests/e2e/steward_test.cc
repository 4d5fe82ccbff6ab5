// SPDX-License-Identifier: Apache-2.0
// The steward: its duties are done however busy the workers are, and by no other process.
#include <gtest/gtest.h>

#include <csignal>
#include <cstdio>

#include "e2e/daemon.h"

namespace allot::e2e::steward_test {
namespace {

using nlohmann::json;
using support::eventually;

constexpr std::chrono::seconds kSoon{40};  // duties are checked every 10 s

// Dead tasks of queue default, older than an hour.
void put_old_dead(const Daemon& daemon, unsigned tasks) {
  daemon.connect().execute(
      "INSERT INTO task_dead (queue_id, partition_no, prio, first_key, attempt, type, payload, "
      "cause,"
      " error, died_at) SELECT queue_id, 0, 1, seq, 1, 'old', '', 'fail', '',"
      " UTC_TIMESTAMP(6) - INTERVAL 2 HOUR FROM queue, " +
      support::numbers(1, tasks) + " WHERE name = 'default'");
}

bool has_open(pid_t pid, const std::string& file) {
  return support::read_file("/proc/" + std::to_string(pid) + "/maps").find(file) !=
         std::string::npos;
}

bool wait_for_steward(const Daemon& daemon) {
  return eventually([&] { return daemon.steward() != 0; });
}

TEST(Steward, ItOpensNoPlugin) {
  Daemon daemon({.workers = 1});
  wait_ready(daemon, 1);
  ASSERT_TRUE(wait_for_steward(daemon)) << daemon.log();
  EXPECT_TRUE(has_open(daemon.workers().at(0), "/probe.so"));
  EXPECT_FALSE(has_open(daemon.steward(), "/probe.so"));
}

TEST(Steward, IsNotCountedAsAWorker) {
  Daemon daemon({.workers = 2});
  wait_ready(daemon, 2);
  ASSERT_TRUE(wait_for_steward(daemon)) << daemon.log();
  const json status = daemon.status();
  EXPECT_EQ(status["workers"].size(), 2U);
  ASSERT_EQ(status["stewards"].size(), 1U) << status;
  EXPECT_EQ(status["stewards"][0]["database_unreachable"], false);
  const auto text = daemon.allot({"status"});
  EXPECT_NE(text.out.find("steward: slot "), std::string::npos) << text.out;
  const auto top = daemon.allot({"top", "--once", "--interval", "10ms"});
  EXPECT_NE(top.out.find(": 2 workers, "), std::string::npos) << top.out;
  EXPECT_NE(top.out.find("\nsteward: slot "), std::string::npos) << top.out;
  const auto doctor = daemon.allot({"doctor"});
  EXPECT_NE(doctor.out.find("runs, with 2 workers and its steward"), std::string::npos)
      << doctor.out;
}

// Purge, stuck queues, and the end of a resize.
TEST(Steward, DutiesAreDoneWhileAllWorkersAreInsideHandlers) {
  Daemon daemon({.workers = 1,
                 .queue_keys = "dead_retention = \"1h\"\non_stuck = \"ops/alert\"\n"
                               "stuck_after = \"1s\"\ndetach_after = \"0s\"",
                 .more = "[queues.keyed]\nplacement = \"ordered\"\npartitions = 2\n",
                 .start = false});
  make_ops(daemon);
  ASSERT_EQ(daemon.allot({"migrate"}).status.code, 0);
  (void)daemon.submit("test.sleep", "600000");
  daemon.start();
  ASSERT_TRUE(eventually([&] { return daemon.busy_workers().size() == 1; })) << daemon.log();

  put_old_dead(daemon, 300);
  const auto kept = daemon.allot({"submit", "keyed", "test.ok", "x", "--partition-key", "k"});
  ASSERT_EQ(kept.status.code, 0) << kept.err;
  ASSERT_EQ(daemon.allot({"queue", "resize", "keyed", "4", "--yes"}).status.code, 0);
  const auto resizing = [&] {
    for (const json& queue : json::parse(daemon.allot({"queue", "list", "--json"}).out)) {
      if (queue.at("name") == "keyed") return queue.at("resizing").get<bool>();
    }
    return false;
  };
  EXPECT_TRUE(resizing());
  ASSERT_EQ(daemon.allot({"task", "cancel", kept.out.substr(0, kept.out.find('\n'))}).status.code,
            0);
  EXPECT_TRUE(eventually([&] { return !resizing(); }, std::chrono::seconds(10))) << daemon.log();
  (void)daemon.submit("test.ok", "");
  EXPECT_TRUE(eventually([&] { return daemon.count("task_dead WHERE type = 'old'") == 0; }, kSoon))
      << daemon.log();
  EXPECT_TRUE(
      eventually([&] { return daemon.logged("queue.stuck queue=default state=waiting"); }, kSoon))
      << daemon.log();
  EXPECT_EQ(daemon.busy_workers().size(), 1U) << "all this time";
  daemon.stop();
}

// Only the worker that puts such a task back knows it, and informs the steward through the board.
TEST(Steward, ReportsTasksWithoutAHandler) {
  Daemon daemon({.workers = 2,
                 .queue_keys = "on_stuck = \"ops/alert\"\nstuck_after = \"1h\"\npartitions = 1",
                 .start = false});
  make_ops(daemon);
  ASSERT_EQ(daemon.allot({"migrate"}).status.code, 0);
  daemon.connect().execute(
      "INSERT INTO task (queue_id, partition_no, prio, run_key, type, payload)"
      " SELECT queue_id, 0, 1, 7, 'test.unknown', '' FROM queue WHERE name = 'default'");
  daemon.start();
  EXPECT_TRUE(eventually(
      [&] { return daemon.logged("queue.stuck queue=default state=no_handler"); }, kSoon))
      << daemon.log();
  EXPECT_EQ(daemon.number("SELECT COUNT(*) FROM task WHERE type = 'alert' AND payload LIKE"
                          " '%no_handler%'"),
            1U);
  daemon.stop();
}

// By the server's own log of statements.
TEST(Steward, OnlyItSendsTheStatementsOfDuties) {
  Daemon daemon({.workers = 4,
                 .queue_keys = "dead_retention = \"1h\"\non_stuck = \"ops/alert\"",
                 .start = false});
  make_ops(daemon);
  ASSERT_EQ(daemon.allot({"migrate"}).status.code, 0);
  auto db = daemon.connect();
  db.execute("SET GLOBAL log_output = 'TABLE'; SET GLOBAL general_log = ON");
  daemon.start();
  wait_ready(daemon, 4);
  daemon.submit_many("test.ok", std::vector<std::string>(50, "x"));
  EXPECT_TRUE(daemon.drains()) << daemon.log();
  // The test of the account's privileges changes nothing.
  const auto senders = [&] {
    return daemon.number(
        "SELECT COUNT(DISTINCT thread_id) FROM mysql.general_log WHERE argument NOT LIKE"
        " '%WHERE FALSE%' AND (argument LIKE 'UPDATE%queue_duty%' OR argument LIKE"
        " 'INSERT%queue_duty%')");
  };
  EXPECT_TRUE(eventually([&] { return senders() == 1; })) << daemon.log();
  daemon.stop();
  EXPECT_EQ(senders(), 1U);
  db.execute("SET GLOBAL general_log = OFF; TRUNCATE mysql.general_log");
}

// E3: whatever ends a leader, its duties continue: on another host, or in the steward that replaces
// it.
TEST(Steward, DutiesMoveToAnotherHost) {
  const std::string keys = "dead_retention = \"1h\"";
  Daemon daemon({.workers = 1, .queue_keys = keys, .log_level = "info"});
  ASSERT_TRUE(wait_for_steward(daemon)) << daemon.log();
  Daemon other({.workers = 1,
                .queue_keys = keys,
                .log_level = "info",
                .start = false,
                .database = daemon.database()});
  const auto leads = [&](pid_t pid) {
    return pid != 0 && daemon.number("SELECT COUNT(*) FROM queue_duty WHERE holder_pid = " +
                                     std::to_string(pid) + " AND free_at > UTC_TIMESTAMP(6)") == 9;
  };
  ASSERT_TRUE(eventually([&] { return leads(daemon.steward()); })) << daemon.log();
  other.start();
  ASSERT_TRUE(wait_for_steward(other)) << other.log();
  const pid_t first = daemon.steward();
  const pid_t second = other.steward();
  // Prints the duration, which should be less than 6 s on an idle machine.
  const auto goes_on = [&](const char* after, const auto& there) {
    const auto from = std::chrono::steady_clock::now();
    const bool came = eventually(there);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - from;
    std::printf("after %s: %.2f s\n", after, took.count());
    return came;
  };

  ASSERT_EQ(support::send_signal(first, SIGSTOP), 0);
  EXPECT_TRUE(goes_on("SIGSTOP", [&] { return leads(second); })) << other.log();
  ASSERT_EQ(support::send_signal(first, SIGCONT), 0);
  EXPECT_TRUE(eventually([&] { return daemon.logged("duty.lost"); })) << daemon.log();
  EXPECT_TRUE(leads(second));
  const auto status = daemon.allot({"status"});
  // Without the duty of viewers.
  EXPECT_NE(status.out.find("duties: 8 led by "), std::string::npos) << status.out;

  ASSERT_EQ(support::send_signal(second, SIGKILL), 0);
  EXPECT_TRUE(goes_on("SIGKILL", [&] { return leads(first) || leads(other.steward()); }))
      << daemon.log() << other.log();

  ASSERT_TRUE(wait_for_steward(other)) << other.log();
  daemon.stop();
  EXPECT_TRUE(goes_on("a stop in order", [&] { return leads(other.steward()); })) << other.log();
  other.stop();
  EXPECT_EQ(daemon.count("queue_duty WHERE holder IS NOT NULL"), 0U) << "given back";
}

TEST(Steward, OneThatDiesIsReplacedAndNoTaskPays) {
  Daemon daemon({.workers = 1, .queue_keys = "dead_retention = \"1h\""});
  wait_ready(daemon, 1);
  ASSERT_TRUE(wait_for_steward(daemon)) << daemon.log();
  const auto worker = daemon.workers();
  const pid_t first = daemon.steward();
  support::send_signal(first, SIGKILL);
  ASSERT_TRUE(eventually([&] {
    const pid_t now = daemon.steward();
    return now != 0 && now != first;
  })) << daemon.log();
  put_old_dead(daemon, 1);
  EXPECT_TRUE(eventually([&] { return daemon.count("task_dead WHERE type = 'old'") == 0; }, kSoon))
      << daemon.log();
  EXPECT_EQ(daemon.workers(), worker) << daemon.log();
  EXPECT_EQ(daemon.times_logged("worker.settled"), 0U) << "it holds nothing";
  EXPECT_EQ(daemon.stop(), (support::ExitStatus{0, 0}));
}

TEST(Steward, AReloadReplacesItToo) {
  Daemon daemon({.workers = 1, .log_level = "info"});
  wait_ready(daemon, 1);
  ASSERT_TRUE(wait_for_steward(daemon)) << daemon.log();
  const pid_t first = daemon.steward();
  daemon.process().signal(SIGHUP);
  ASSERT_TRUE(eventually([&] { return daemon.times_logged("steward.stopped") == 1; }))
      << daemon.log();
  ASSERT_TRUE(eventually([&] { return daemon.steward() != 0 && daemon.steward() != first; }));
  EXPECT_EQ(daemon.stop(), (support::ExitStatus{0, 0}));
  EXPECT_EQ(daemon.times_logged("steward.stopped"), 2U) << daemon.log();
}

// It needs no plugin, so it becomes ready where no worker can.
TEST(Steward, AloneItMakesNoDaemonReady) {
  Daemon daemon({.workers = 1, .plugins = ALLOT_INIT_FAILS_FOLDER});
  ASSERT_TRUE(wait_for_steward(daemon)) << daemon.log();
  ASSERT_TRUE(eventually([&] { return daemon.times_logged("worker.throttled pool=default") >= 2; }))
      << daemon.log();
  EXPECT_TRUE(daemon.logged("supervisor worker.ready")) << "the steward's\n" << daemon.log();
  EXPECT_FALSE(daemon.logged("supervisor.ready")) << daemon.log();
  daemon.stop();
}

TEST(Steward, WithoutWorkersTheDaemonIsReadyWithIt) {
  Daemon daemon({.workers = 0});
  EXPECT_TRUE(eventually([&] { return daemon.logged("supervisor.ready"); })) << daemon.log();
  EXPECT_TRUE(wait_for_steward(daemon)) << daemon.log();
  EXPECT_EQ(daemon.stop(), (support::ExitStatus{0, 0}));
}

}  // namespace
}  // namespace allot::e2e::steward_test
