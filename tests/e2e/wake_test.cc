// SPDX-License-Identifier: Apache-2.0
// A commit in SQL wakes a worker through the server's binary log; if that cannot be read, polling
// finds the task.
// Rule: S76.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>

#include "e2e/daemon.h"

namespace allot::e2e::wake_test {
namespace {

using support::Database;
using support::eventually;

// An account with the documented privileges.
constexpr const char* kReader = "[wake]\nuser = \"follower\"\n";

Database& server_with_log() {
  static Database server({"--log-bin=log", "--binlog-format=ROW", "--server-id=1"});
  server.connect().execute(
      "CREATE USER IF NOT EXISTS follower@localhost;"
      "GRANT REPLICATION SLAVE, REPLICATION CLIENT ON *.* TO follower@localhost");
  return server;
}

void put_task(db::Connection& db, const std::string& payload) {
  db.execute(
      "INSERT INTO task (queue_id, partition_no, run_key, type, payload)"
      " SELECT queue_id, 0, TIMESTAMPDIFF(MICROSECOND, '2025-01-01', UTC_TIMESTAMP(6)) << 12,"
      " 'test.write', '" +
      payload + "' FROM queue WHERE name = 'default'");
}

// The last connection on which the server sends its log.
std::uint64_t last_stream(const Daemon& daemon) {
  return daemon.number(
      "SELECT COALESCE(MAX(ID), 0) FROM information_schema.PROCESSLIST"
      " WHERE COMMAND LIKE 'Binlog Dump%'");
}

void begin_log_file(const Daemon& daemon) {
  const std::uint64_t before = last_stream(daemon);
  daemon.connect().execute("FLUSH BINARY LOGS");
  EXPECT_TRUE(eventually([&] { return last_stream(daemon) > before; })) << daemon.log();
}

bool wrote(const Daemon& daemon, std::size_t tasks) {
  return eventually([&] { return daemon.written().size() == tasks; });
}

TEST(Wake, ACommitInATransactionOfSqlWakesAWorker) {
  Daemon daemon({.workers = 1, .more = kReader, .server = &server_with_log()});
  wait_ready(daemon, 1);
  ASSERT_TRUE(eventually([&] { return daemon.logged("wake.following"); })) << daemon.log();
  auto db = daemon.connect();
  db.execute("CREATE TABLE orders (id INT PRIMARY KEY)");
  for (std::size_t i = 1; i <= 3; ++i) {
    if (i == 3) begin_log_file(daemon);
    db.execute("BEGIN; INSERT INTO orders VALUES (" + std::to_string(i) + ")");
    put_task(db, std::to_string(i));
    db.execute("COMMIT");
    ASSERT_TRUE(wrote(daemon, i)) << daemon.log();
    EXPECT_TRUE(eventually([&] { return daemon.times_logged("wake.commit") == i; }))
        << daemon.log();
  }
  db.execute("BEGIN");
  put_task(db, "never");
  db.execute("ROLLBACK");
  EXPECT_EQ(daemon.stop(), (support::ExitStatus{0, 0}));
  EXPECT_EQ(daemon.times_logged("wake.commit"), 3U) << daemon.log();
  EXPECT_FALSE(daemon.logged("wake.lost")) << "a new log file is none";
}

// The next steward begins at the end of the log, and tasks from the gap are found by polling.
TEST(Wake, AStewardThatIsKilledIsReplaced) {
  Daemon daemon({.workers = 1, .more = kReader, .server = &server_with_log()});
  wait_ready(daemon, 1);
  ASSERT_TRUE(eventually([&] { return daemon.logged("wake.following"); })) << daemon.log();
  support::send_signal(daemon.steward(), SIGKILL);
  auto db = daemon.connect();
  for (int i = 0; i < 10; ++i) put_task(db, "while there is none");
  EXPECT_TRUE(wrote(daemon, 10)) << daemon.log();
  ASSERT_TRUE(eventually([&] { return daemon.times_logged("wake.following") == 2; }))
      << daemon.log();
  const std::size_t before = daemon.times_logged("wake.commit");
  put_task(db, "and now");
  EXPECT_TRUE(wrote(daemon, 11));
  EXPECT_TRUE(eventually([&] { return daemon.times_logged("wake.commit") > before; }));
}

bool every_thread_is_stopped(pid_t pid) {
  const std::filesystem::directory_iterator threads("/proc/" + std::to_string(pid) + "/task");
  return std::all_of(begin(threads), end(threads), [](const auto& thread) {
    return support::read_file(thread.path().string() + "/stat").find(") T ") != std::string::npos;
  });
}

TEST(Wake, AStewardThatIsStoppedHoldsNoTaskUp) {
  Daemon daemon({.workers = 1, .more = kReader, .server = &server_with_log()});
  wait_ready(daemon, 1);
  ASSERT_TRUE(eventually([&] { return daemon.logged("wake.following"); })) << daemon.log();
  const pid_t steward = daemon.steward();
  support::send_signal(steward, SIGSTOP);
  ASSERT_TRUE(eventually([&] { return every_thread_is_stopped(steward); }));
  auto db = daemon.connect();
  for (std::size_t i = 1; i <= 3; ++i) {
    put_task(db, std::to_string(i));
    EXPECT_TRUE(wrote(daemon, i)) << daemon.log();
  }
  EXPECT_EQ(daemon.times_logged("wake.commit"), 0U);
  support::send_signal(steward, SIGCONT);
  EXPECT_TRUE(eventually([&] { return daemon.times_logged("wake.commit") == 3; })) << daemon.log();
}

// Each with a separate runtime folder: only the log informs one host of commits by the other's
// submitters.
TEST(Wake, ACommitWakesTheWorkersOfEveryHost) {
  Daemon one({.workers = 1, .more = kReader, .server = &server_with_log()});
  Daemon other({.workers = 1,
                .daemon_keys = "instance = \"other\"",
                .more = kReader,
                .migrate = false,
                .server = &server_with_log(),
                .database = one.database()});
  for (const Daemon* daemon : {&one, &other}) {
    wait_ready(*daemon, 1);
    ASSERT_TRUE(eventually([&] { return daemon->logged("wake.following"); })) << daemon->log();
  }
  auto db = one.connect();
  for (std::size_t i = 1; i <= 3; ++i) {
    put_task(db, std::to_string(i));
    for (const Daemon* daemon : {&one, &other}) {
      EXPECT_TRUE(eventually([&] { return daemon->times_logged("wake.commit") == i; }))
          << daemon->log();
    }
  }
  EXPECT_TRUE(eventually([&] { return one.written().size() + other.written().size() == 3; }));
}

// However the steward and the log suffer, each task starts by polling at the latest: within a
// second, and three more for a busy machine.
TEST(Wake, NoTaskWaitsLongerThanForPolling) {
  constexpr std::chrono::seconds kMost{4};
  Daemon daemon({.workers = 1, .more = kReader, .server = &server_with_log()});
  wait_ready(daemon, 1);
  ASSERT_TRUE(eventually([&] { return daemon.logged("wake.following"); })) << daemon.log();
  auto db = daemon.connect();
  std::size_t tasks = 0;
  const auto starts_in_time = [&](const char* after) {
    put_task(db, after);
    ++tasks;
    EXPECT_TRUE(eventually([&] { return daemon.written().size() == tasks; }, kMost))
        << after << "\n"
        << daemon.log();
  };
  for (int round = 0; round < 3; ++round) {
    const pid_t steward = daemon.steward();
    support::send_signal(steward, SIGSTOP);
    starts_in_time("it is stopped");
    db.execute("FLUSH BINARY LOGS; PURGE BINARY LOGS BEFORE UTC_TIMESTAMP() + INTERVAL 1 DAY");
    starts_in_time("the log is purged, too");
    if (const std::uint64_t stream = last_stream(daemon); stream != 0) {
      db.execute("KILL " + std::to_string(stream));
    }
    starts_in_time("its stream is cut, too");
    support::send_signal(steward, SIGKILL);
    starts_in_time("it is killed");
    ASSERT_TRUE(eventually([&] {
      const pid_t next = daemon.steward();
      return next != 0 && next != steward;
    }));
    starts_in_time("it is replaced");
    support::send_signal(daemon.steward(), SIGSTOP);
    support::send_signal(daemon.steward(), SIGCONT);
    starts_in_time("it continues");
  }
  EXPECT_EQ(daemon.stop(), (support::ExitStatus{0, 0}));
  EXPECT_EQ(daemon.count("task") + daemon.count("task_dead"), 0U);
}

// The reason that keeps the steward from the log is logged once, however often it retries, and
// polling continues.
struct BadLog {
  const char* name;
  std::vector<std::string> server;
  const char* user;
  const char* said;  // in the line
};

class WakeWithBadLog : public testing::TestWithParam<BadLog> {};

TEST_P(WakeWithBadLog, IsOneLineAndPollingContinues) {
  Database server(GetParam().server);
  server.connect().execute("CREATE USER IF NOT EXISTS stranger@localhost");
  Daemon daemon({.workers = 1,
                 .more = std::string("[wake]\nuser = \"") + GetParam().user + "\"\n",
                 .server = &server});
  wait_ready(daemon, 1);
  ASSERT_TRUE(eventually([&] { return daemon.logged("wake.lost"); })) << daemon.log();
  EXPECT_TRUE(daemon.logged(GetParam().said)) << daemon.log();
  auto db = daemon.connect();
  for (std::size_t i = 1; i <= 3; ++i) {  // longer than the pauses between the first tries
    put_task(db, "found");
    EXPECT_TRUE(wrote(daemon, i)) << daemon.log();
  }
  EXPECT_EQ(daemon.times_logged("wake.lost"), 1U) << daemon.log();
  EXPECT_FALSE(daemon.logged("wake.following"));
}

INSTANTIATE_TEST_SUITE_P(
    Logs, WakeWithBadLog,
    testing::Values(BadLog{"Off", {"--skip-log-bin"}, "root", "log_bin"},
                    BadLog{"Mixed",
                           {"--log-bin=log", "--binlog-format=MIXED", "--server-id=1"},
                           "root",
                           "binlog_format is MIXED"},
                    BadLog{"NoRight",
                           {"--log-bin=log", "--binlog-format=ROW", "--server-id=1"},
                           "stranger",
                           "REPLICATION SLAVE and REPLICATION CLIENT on *.*"},
                    BadLog{"NoAccount",
                           {"--log-bin=log", "--binlog-format=ROW", "--server-id=1"},
                           "nobody",
                           "nobody"}),
    [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace allot::e2e::wake_test
