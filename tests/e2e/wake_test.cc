// SPDX-License-Identifier: Apache-2.0
// A commit in SQL wakes a worker by the server's binary log, and where that cannot be read, polling
// finds the task.
#include <gtest/gtest.h>

#include <csignal>

#include "e2e/daemon.h"

namespace allot::e2e::wake_test {
namespace {

using support::Database;
using support::eventually;

// An account with the rights of the documents.
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

// The last connection over which the server sends its log.
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
  ASSERT_TRUE(eventually([&] { return daemon.logged("wake.follows"); })) << daemon.log();
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

// The next steward begins at the end of the log, and what came meanwhile is found by polling.
TEST(Wake, AStewardThatIsKilledIsReplaced) {
  Daemon daemon({.workers = 1, .more = kReader, .server = &server_with_log()});
  wait_ready(daemon, 1);
  ASSERT_TRUE(eventually([&] { return daemon.logged("wake.follows"); })) << daemon.log();
  support::send_signal(daemon.steward(), SIGKILL);
  auto db = daemon.connect();
  for (int i = 0; i < 10; ++i) put_task(db, "while there is none");
  EXPECT_TRUE(wrote(daemon, 10)) << daemon.log();
  ASSERT_TRUE(eventually([&] { return daemon.times_logged("wake.follows") == 2; })) << daemon.log();
  const std::size_t before = daemon.times_logged("wake.commit");
  put_task(db, "and now");
  EXPECT_TRUE(wrote(daemon, 11));
  EXPECT_TRUE(eventually([&] { return daemon.times_logged("wake.commit") > before; }));
}

TEST(Wake, AStewardThatIsStoppedHoldsNoTaskUp) {
  Daemon daemon({.workers = 1, .more = kReader, .server = &server_with_log()});
  wait_ready(daemon, 1);
  ASSERT_TRUE(eventually([&] { return daemon.logged("wake.follows"); })) << daemon.log();
  const pid_t steward = daemon.steward();
  support::send_signal(steward, SIGSTOP);
  auto db = daemon.connect();
  for (std::size_t i = 1; i <= 3; ++i) {
    put_task(db, std::to_string(i));
    EXPECT_TRUE(wrote(daemon, i)) << daemon.log();
  }
  EXPECT_EQ(daemon.times_logged("wake.commit"), 0U);
  support::send_signal(steward, SIGCONT);
  EXPECT_TRUE(eventually([&] { return daemon.times_logged("wake.commit") == 3; })) << daemon.log();
}

TEST(Wake, WithoutALogThereIsOneLineAndPollingGoesOn) {
  Database server({"--skip-log-bin"});
  Daemon daemon({.workers = 1, .more = "[wake]\nuser = \"root\"\n", .server = &server});
  wait_ready(daemon, 1);
  ASSERT_TRUE(eventually([&] { return daemon.logged("log_bin"); })) << daemon.log();
  auto db = daemon.connect();
  put_task(db, "found");
  EXPECT_TRUE(wrote(daemon, 1)) << daemon.log();
  EXPECT_EQ(daemon.times_logged("wake.lost"), 1U);
}

}  // namespace
}  // namespace allot::e2e::wake_test
