// SPDX-License-Identifier: Apache-2.0
// Actions of a database against its clients, under load. In every case no process exits, nothing is
// lost, and tasks that finished in the outage are acknowledged and not repeated.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <functional>
#include <optional>

#include "e2e/daemon.h"
#include "e2e/full_disk.h"
#include "support/certificates.h"
#include "support/commit_stop.h"
#include "support/db_error.h"
#include "support/replication.h"

namespace allot::e2e::outage_test {
namespace {

using std::chrono::seconds;
using support::Database;
using support::eventually;

std::vector<std::string> sorted(std::vector<std::string> lines) {
  std::sort(lines.begin(), lines.end());
  return lines;
}

bool noticed(const Daemon& daemon) {
  return eventually(
      [&] { return daemon.logged("database.lost") || daemon.logged("database.retry"); });
}

// A server that restarts within its first seconds cannot be distinguished from the former one: a
// worker that ends a former connection then may end a new one with the same number
// (queue::kill_connections).
void wait_until_settled_in(const Database& server) {
  auto db = server.connect();
  EXPECT_TRUE(eventually([&] { return support::server_counter(db, "Uptime") > 2; }));
}

class Outage : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    authority_ = new support::Authority;
    const auto files = authority_->issue("server", "IP:127.0.0.1");
    server_ = new Database({"--ssl-cert=" + files.cert, "--ssl-key=" + files.key},
                           support::Network::kTcp);
    for (const char* name : {"app@localhost", "app@127.0.0.1"}) {
      server_->connect().execute(support::account(name));
    }
  }
  static void TearDownTestSuite() {
    delete server_;
    server_ = nullptr;
    delete authority_;
    authority_ = nullptr;
  }

  // Number of concurrent tasks of a worker.
  struct Way {
    const char* type;
    const char* pool_keys;
    bool repeats;  // tasks whose number ends in 7
    bool tls;
  };
  static constexpr Way kAlone{"test.pace", "", false, false};
  static constexpr Way kBeside{"test.pace_beside", "concurrency = 4", false, false};
  static constexpr Way kMany{"test.pace_many", "", true, false};
  static constexpr Way kWithTls{"test.pace", "", false, true};

  static DaemonOptions options(const Way& way) {
    return {.workers = 3,
            .queue_keys = "partitions = 6",
            .pool_keys = way.pool_keys,
            .server = server_,
            .database_keys = place(way) + "\nuser = \"app\""};
  }
  static std::string place(const Way& way) {
    if (!way.tls) return "socket = \"" + server_->socket() + "\"";
    return "host = \"127.0.0.1\"\nport = " + std::to_string(server_->tcp().port) +
           "\ntls = \"verify\"\ntls_ca = \"" + authority_->ca() + "\"";
  }
  // Each task runs exactly once, except those that request a second attempt.
  static std::vector<std::string> runs_of(std::vector<std::string> payloads, const Way& way) {
    for (std::size_t i = payloads.size(); way.repeats && i-- > 0;) {
      if (payloads[i].ends_with('7')) payloads.push_back(payloads[i]);
    }
    return sorted(std::move(payloads));
  }
  // `trouble` comes in the middle of the work, and is over when it returns.
  static void work_through(const std::function<void(Daemon&, db::Connection&)>& trouble,
                           const Way& way = kAlone, int tasks = 600) {
    wait_until_settled_in(*server_);
    Daemon daemon(options(way));
    wait_ready(daemon, 3);
    const auto pids = daemon.workers();
    const auto payloads = sorted(numbered(tasks));
    daemon.submit_many(way.type, payloads);
    ASSERT_TRUE(eventually([&] { return daemon.written().size() > 50; })) << daemon.log();
    auto db = daemon.connect();
    trouble(daemon, db);
    ASSERT_TRUE(daemon.drains()) << daemon.log();
    EXPECT_EQ(sorted(daemon.written()), runs_of(payloads, way)) << daemon.log();
    EXPECT_EQ(daemon.workers(), pids) << "no worker ends because of the database\n" << daemon.log();
    EXPECT_EQ(daemon.count("task_dead"), 0U);
    EXPECT_EQ(daemon.stop()->code, 0);
  }

  static void kill_and_start(Daemon& daemon, db::Connection&) {
    server_->kill9();
    EXPECT_TRUE(noticed(daemon)) << daemon.log();
    server_->start();
  }
  static void restart(Daemon& daemon, db::Connection&) {
    server_->restart();
    EXPECT_TRUE(noticed(daemon)) << daemon.log();
  }
  // Half open: neither an answer nor a reset.
  static void be_silent(Daemon& daemon, db::Connection&) {
    const Database::Stall stall(*server_);
    EXPECT_TRUE(noticed(daemon)) << daemon.log();
  }
  // 2006, 2013 and 1317, with TLS 2026, at any point of a trip.
  static void kill_connections(Daemon& daemon, db::Connection& db) {
    for (int round = 0; round < 40; ++round) {
      auto ids = db.execute(
          "SELECT id FROM information_schema.processlist WHERE user = 'app' AND db = DATABASE()");
      while (const auto row = ids.front().next()) {
        static_cast<void>(support::error_class_of(
            [&] { db.execute("KILL CONNECTION " + std::to_string(row->u64(0))); }));
      }
    }
    EXPECT_TRUE(noticed(daemon)) << daemon.log();
  }
  // Commits hang beyond the deadline of the call, and then succeed or not without a client.
  static void lose_replies(Daemon& daemon, db::Connection& db) {
    const support::CommitStop stop(db);
    EXPECT_TRUE(noticed(daemon)) << daemon.log();
  }

  static support::Authority* authority_;
  static Database* server_;
};
support::Authority* Outage::authority_ = nullptr;
Database* Outage::server_ = nullptr;

TEST_F(Outage, KilledAndStarted) {
  work_through(kill_and_start);
}

TEST_F(Outage, Restarted) {
  work_through(restart);
}

TEST_F(Outage, Silent) {
  work_through(be_silent);
}

TEST_F(Outage, ConnectionsAreKilledAgainAndAgain) {
  work_through(kill_connections);
}

TEST_F(Outage, ReadOnly) {
  work_through([](Daemon& daemon, db::Connection& db) {
    db.execute("SET GLOBAL read_only = 1");
    EXPECT_TRUE(noticed(daemon)) << daemon.log();
    db.execute("SET GLOBAL read_only = 0");
  });
}

// 1205, or the deadline of the call, whichever is first. Only remaining work notices it.
TEST_F(Outage, TheLeasesAreLockedByAnotherSession) {
  const auto lock = [](Daemon& daemon, db::Connection& db) {
    db.execute("BEGIN; SELECT * FROM q_lock_table FOR UPDATE");
    EXPECT_TRUE(noticed(daemon)) << daemon.log();
    db.execute("ROLLBACK");
  };
  work_through(lock, kAlone, 2000);
}

TEST_F(Outage, TheSchemaIsChanged) {
  work_through([](Daemon& daemon, db::Connection& db) {
    db.execute("ALTER TABLE task ADD COLUMN note INT NULL, ALGORITHM = COPY");
    db.execute("ALTER TABLE q_lock_table ADD COLUMN note INT NULL, ALGORITHM = COPY");
    db.execute("RENAME TABLE task TO elsewhere");
    EXPECT_TRUE(eventually([&] { return daemon.logged("class=refused"); })) << daemon.log();
    db.execute("RENAME TABLE elsewhere TO task");
    db.execute("ALTER TABLE task DROP COLUMN note, ALGORITHM = COPY");
  });
}

TEST_F(Outage, CommitsWhoseRepliesAreLost) {
  work_through(lose_replies);
}

TEST_F(Outage, WhileTasksRunSideBySide) {
  for (const auto& trouble : {kill_and_start, kill_connections, lose_replies}) {
    work_through(trouble, kBeside);
  }
}

TEST_F(Outage, WithTls) {
  for (const auto& trouble : {kill_and_start, restart, be_silent, kill_connections, lose_replies}) {
    work_through(trouble, kWithTls);
  }
}

TEST_F(Outage, WhileACallHasSeveralTasks) {
  for (const auto& trouble : {kill_and_start, kill_connections, lose_replies}) {
    work_through(trouble, kMany);
  }
}

// Error 1114, like on a full disk: the file that contains everything cannot grow. Statements that
// need space wait, and so do those that need none, because their undo log does; then space is
// freed.
TEST(OutageOfRoom, TheDiskIsFull) {
  FullDisk::ignore_signal();  // inherited by the server
  Database server(FullDisk::server_settings());
  signal(SIGXFSZ, SIG_DFL);
  Daemon daemon({.workers = 2, .queue_keys = "partitions = 4", .server = &server});
  wait_ready(daemon, 2);
  const auto pids = daemon.workers();
  const auto payloads = sorted(numbered(8));
  daemon.submit_many("test.bloat_on_go", payloads);
  std::optional<FullDisk> full(std::in_place, server, daemon.connect());
  full->begin();
  std::ofstream(daemon.folder() + "/written.go").flush();
  EXPECT_TRUE(eventually([&] { return daemon.logged("class=full"); })) << daemon.log();
  full.reset();
  ASSERT_TRUE(daemon.drains()) << daemon.log();
  EXPECT_EQ(sorted(daemon.written()), payloads);
  EXPECT_EQ(daemon.workers(), pids) << daemon.log();
}

// Worker and database both die in the middle of a block. The worker's finished tasks are in its
// slot until the database is back.
TEST(OutageOfBoth, FinishedWorkOfADeadWorkerIsAcknowledgedOnReturn) {
  Database server;
  wait_until_settled_in(server);
  Daemon daemon({.workers = 1, .queue_keys = "partitions = 1", .server = &server});
  wait_ready(daemon, 1);
  // One transaction, so one block: the first is finished and not acknowledged while the second
  // hangs.
  const auto done =
      daemon.allot({"submit", "--ndjson", "-"},
                   "{\"queue\":\"default\",\"type\":\"test.write\",\"payload\":\"a\"}\n"
                   "{\"queue\":\"default\",\"type\":\"test.hang_once\",\"payload\":\"b\"}\n");
  ASSERT_EQ(done.status.code, 0) << done.err;
  ASSERT_TRUE(eventually([&] { return daemon.written().size() == 2; })) << daemon.log();
  const pid_t victim = daemon.busy_workers().at(0);
  EXPECT_EQ(daemon.count("task"), 2U);
  server.kill9();
  support::send_signal(victim, SIGKILL);
  ASSERT_TRUE(eventually([&] { return daemon.logged("worker.not_settled"); })) << daemon.log();
  server.start();
  ASSERT_TRUE(daemon.drains()) << daemon.log();
  EXPECT_EQ(daemon.written(), (std::vector<std::string>{"a", "b attempt 1", "b attempt 2"}))
      << daemon.log();
}

// A replica with every commit takes over when its primary dies.
TEST(FailOver, ToTheNextHostOfTheListUnderLoad) {
  support::ReplicatedPair pair;
  pair.first().connect().execute(support::account("app@'127.0.0.1'"));
  Daemon daemon({.workers = 3,
                 .queue_keys = "partitions = 6",
                 .server = &pair.first(),
                 .database_keys = "hosts = " + support::hosts({&pair.first(), &pair.second()}) +
                                  "\nuser = \"app\"\nconnect_timeout = \"2s\""});
  const auto payloads = sorted(numbered(600));
  daemon.submit_many("test.pace", payloads);
  ASSERT_TRUE(eventually([&] { return daemon.written().size() > 100; })) << daemon.log();
  pair.first().kill9();
  ASSERT_TRUE(eventually([&] { return daemon.logged("database.lost"); })) << daemon.log();
  pair.promote();
  db::Connection at_second = pair.second().connect(daemon.database());
  const auto left = [&] {
    return at_second
        .execute(
            "SELECT (SELECT COUNT(*) FROM task) + (SELECT COUNT(*) FROM task_running) +"
            " (SELECT COUNT(*) FROM q_lock_table"
            " WHERE state <> 'FREE')")
        .front()
        .next()
        ->u64(0);
  };
  ASSERT_TRUE(eventually([&] { return left() == 0; }, seconds(60))) << daemon.log();
  EXPECT_EQ(sorted(daemon.written()), payloads) << "each exactly once\n" << daemon.log();
  EXPECT_FALSE(daemon.logged("worker.died")) << daemon.log();
  EXPECT_EQ(daemon.stop()->code, 0);
}

}  // namespace
}  // namespace allot::e2e::outage_test
