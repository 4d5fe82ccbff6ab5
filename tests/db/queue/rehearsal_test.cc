// SPDX-License-Identifier: Apache-2.0
// Requirements of the protocol on a server, tested on real servers: directly, and behind a proxy
// that changes the statements.
// Rule: S32.
#include "queue/server/rehearsal.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <regex>

#include "db/queue/fixture.h"
#include "queue/views/health.h"
#include "sql/queries.h"
#include "support/db_error.h"
#include "support/eventually.h"
#include "support/reserved_port.h"
#include "support/rewriting_proxy.h"
#include "support/server_program.h"
#include "support/temp_dir.h"
#include "support/text.h"

namespace allot::queue {
namespace {

using support::replaced;
using support::RewritingProxy;

class RehearsalTest : public QueueTest {
 protected:
  [[nodiscard]] db::ConnectOptions options() const {
    return support::Database::shared().options(name_);
  }
  // Result of a rehearsal behind a proxy that changes the SQL; empty: the server is good.
  std::string behind(const RewritingProxy::Rewrite& rewrite, const std::string& greeting = {}) {
    const RewritingProxy proxy(folder_ / "p", support::Database::shared().socket(), rewrite,
                               greeting);
    db::ConnectOptions through = options();
    through.socket = proxy.socket();
    const auto error = support::db_error_of([&] {
      db::Connection db(through);
      rehearse(db, through);
    });
    if (!error) return {};
    EXPECT_EQ(error->number(), db::kUnfitServer) << error->what();
    EXPECT_EQ(error->exit_code(), kExitConfig);
    return error->what();
  }
  void expect_refused(const RewritingProxy::Rewrite& rewrite, const std::string& words,
                      const std::string& greeting = {}) {
    const std::string said = behind(rewrite, greeting);
    EXPECT_NE(said.find(words), std::string::npos) << words << ", but it said: " << said;
  }

  support::TempDir folder_;
};

TEST_F(RehearsalTest, LeavesNothingButAFreeLease) {
  put(3);
  const Block block = must_lease();
  const std::string before = tasks_as_text();
  db::Connection db(options());
  rehearse(db, options());
  rehearse(db, options());
  EXPECT_FALSE(db.in_transaction());
  EXPECT_EQ(tasks_as_text(), before);
  EXPECT_EQ(number("SELECT COUNT(*) FROM q_lock_table WHERE queue_id = 4294967295"), 16U);
  EXPECT_EQ(
      number("SELECT COUNT(*) FROM q_lock_table WHERE queue_id = 4294967295 AND NOT (state = 'FREE'"
             " AND epoch = 0 AND lock_by IS NULL)"),
      0U);
  EXPECT_TRUE(worker_.leases.renew(worker_.db, block.lease));
  EXPECT_TRUE(held_leases(observer_, 10).size() == 1);
}

TEST_F(RehearsalTest, ManyAtOnceDoNotFailEachOther) {
  std::vector<std::future<void>> all;
  for (int i = 0; i < 24; ++i) {
    all.push_back(std::async(std::launch::async, [this] {
      for (int times = 0; times < 4; ++times) {
        db::Connection db(options());
        rehearse(db, options());
      }
    }));
  }
  for (auto& one : all) EXPECT_NO_THROW(one.get());
}

TEST_F(RehearsalTest, BehindAProxyThatChangesNothingItPasses) {
  EXPECT_EQ(behind([](std::string sql) { return sql; }), "");
}

TEST_F(RehearsalTest, AProxyThatDropsSettingsIsRefused) {
  expect_refused(
      [](const std::string& sql) {
        return replaced(sql, "SET SESSION sql_mode = '", "SET @dropped = 'x', @mode = '");
      },
      "the session does not have the settings of Allot: sql_mode is '");
  expect_refused(
      [](const std::string& sql) {
        return replaced(sql, "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED", "DO 0");
      },
      "transaction_isolation is 'REPEATABLE-READ', not 'READ-COMMITTED'");
}

TEST_F(RehearsalTest, AServerThatCutsAnswersOffIsRefused) {
  expect_refused([](const std::string& sql) { return replaced(sql, "UNION ALL SELECT 3)", ")"); },
                 "of a result of 3 rows 2 come");
  expect_refused(
      [](const std::string& sql) { return replaced(sql, "'' IS NULL", "'' IS NOT NULL"); },
      "it returns values that differ from those sent");
}

TEST_F(RehearsalTest, AServerThatCannotLogIsRefused) {
  expect_refused(
      [](const std::string& sql) {
        if (sql.find("'binlog_format'") == std::string::npos) return sql;
        return std::string("SELECT 'log_bin', 'ON' UNION SELECT 'binlog_format', 'STATEMENT'");
      },
      "binlog_format is STATEMENT");
}

// It sets the session up, and then sends to another one.
TEST_F(RehearsalTest, AProxyThatSharesSessionsIsRefused) {
  std::atomic<int> trips{0};
  expect_refused(
      [&](const std::string& sql) {
        return ++trips == 1 ? sql : replaced(sql, "CONNECTION_ID()", "CONNECTION_ID() + 1");
      },
      "two statements of one connection reached different sessions");
}

TEST_F(RehearsalTest, AServerWithoutNowaitIsRefused) {
  expect_refused([](const std::string& sql) { return replaced(sql, "NOWAIT", "NOT WAIT"); },
                 "it does not know NOWAIT as lease.sql uses it");
}

TEST_F(RehearsalTest, AServerThatWaitsForALockedRowIsRefused) {
  expect_refused([](const std::string& sql) { return replaced(sql, " NOWAIT", ""); },
                 "a lease waits for a locked row");
}

TEST_F(RehearsalTest, AFenceThatDoesNotLockIsRefused) {
  expect_refused(
      // Without FOR UPDATE both servers still lock the row, but shared.
      [](const std::string& sql) {
        static const std::regex kFence(R"(\(SELECT 1 FROM q_lock_table[^)]*FOR UPDATE\) = 1)");
        return std::regex_replace(sql, kFence, "1 = 1");
      },
      "a fence does not lock the row of its lease");
}

// MySQL's conversion of EXISTS; MariaDB does not convert it, so it gets the statement that MySQL
// executes.
TEST_F(RehearsalTest, AFenceThatDeletesTheLeaseIsRefused) {
  expect_refused(
      [](std::string sql) {
        if (support::on_mysql()) {
          sql = replaced(sql, "(SELECT 1 FROM q_lock_table", "EXISTS (SELECT 1 FROM q_lock_table");
          return replaced(sql, "FOR UPDATE) = 1", "FOR UPDATE)");
        }
        return replaced(
            sql, "DELETE FROM task_moved",
            "DELETE FROM q_lock_table WHERE queue_id = 4294967295 AND partition_no < 16;"
            "DELETE FROM task_moved");
      },
      "a DELETE that asks for its lease deletes the lease as well");
}

TEST_F(RehearsalTest, OneWhoseUpdatesCountChangedRowsIsRefused) {
  expect_refused(
      [](const std::string& sql) {
        return replaced(sql, "SET run_key = run_key\n WHERE",
                        "SET run_key = run_key\n WHERE FALSE AND");
      },
      "an UPDATE that matches a row reports 0 rows");
}

// ---- refused by name ---------------------------------------------------------------------------

std::string as_it_is(std::string sql) {
  return sql;
}

TEST_F(RehearsalTest, AProxyThatSplitsReadsFromWritesIsRefused) {
  expect_refused(
      [](const std::string& sql) {
        return sql.starts_with("BEGIN") ? replaced(sql, "CONNECTION_ID()", "CONNECTION_ID() + 1")
                                        : sql;
      },
      "reads and writes of one connection reach different sessions");
}

TEST_F(RehearsalTest, ProxySqlIsRefusedByName) {
  expect_refused(
      [](const std::string& sql) {
        return sql == "select @@version_comment limit 1" ? "SELECT '(ProxySQL)'" : sql;
      },
      "the connection goes through ProxySQL");
}

TEST_F(RehearsalTest, VitessIsRefusedByNameBeforeAnythingIsSent) {
  std::atomic<int> trips{0};
  expect_refused(
      [&](std::string sql) {
        ++trips;
        return sql;
      },
      "it is Vitess, which sends each statement to any session of a pool", "8.4.6-Vitess");
  EXPECT_EQ(trips, 0);
}

// Its router readconnroute keeps a connection in one session, and readwritesplit does not.
TEST_F(RehearsalTest, MaxScaleIsNamedOnlyWhereItSplitsStatements) {
  const std::string version = "5.5.5-10.11.6-MariaDB-maxscale";
  EXPECT_EQ(behind(as_it_is, version), "");
  expect_refused(
      [](const std::string& sql) {
        return sql.starts_with("SELECT CONNECTION_ID()")
                   ? replaced(sql, "CONNECTION_ID()", "CONNECTION_ID() + 1")
                   : sql;
      },
      "MaxScale, which is a proxy, must not share sessions, or send reads and writes to "
      "different servers",
      version);
}

TEST_F(RehearsalTest, AGroupWithSeveralWritersIsRefused) {
  const auto claims = [](const std::string& name, const std::string& mode) {
    return [=](const std::string& sql) {
      static const std::regex kShow(R"(SHOW GLOBAL VARIABLES\s+WHERE [^)]*group_repl[^)]*\))");
      return std::regex_replace(
          sql, kShow,
          "SELECT 'group_replication_group_name', '" + name +
              "' UNION ALL SELECT 'group_replication_single_primary_mode', '" + mode + "'");
    };
  };
  expect_refused(claims("aaaaaaaa-0000-0000-0000-000000000000", "OFF"),
                 "its Group Replication has several writers");
  EXPECT_EQ(behind(claims("aaaaaaaa-0000-0000-0000-000000000000", "ON")), "");
  EXPECT_EQ(behind(claims("", "OFF")), "") << "it belongs to no group";
}

TEST_F(RehearsalTest, SpiderAndNdbTablesAreRefusedByName) {
  const auto keeps = [](const std::string& engine) {
    return [=](std::string sql) {
      if (sql.find("information_schema.TABLES") == std::string::npos) return sql;
      sql = replaced(sql, "TABLE_NAME, ENGINE", "TABLE_NAME, '" + engine + "'");
      return replaced(sql, "ENGINE <> 'InnoDB'", "TABLE_NAME = 'task'");
    };
  };
  expect_refused(keeps("SPIDER"),
                 "table `task` has the storage engine SPIDER: the servers behind it may wait "
                 "for a locked row");
  expect_refused(keeps("ndbcluster"),
                 "table `task` has the storage engine ndbcluster: it does not lock ranges");
}

// In a private database, because it changes the tables.
class EngineTest : public testing::Test {
 protected:
  std::string refusal() {
    const auto error = support::db_error_of([&] { rehearse(db_, options_); });
    return error ? error->what() : "";
  }

  const std::string name_ = support::Database::shared().make_database();
  const db::ConnectOptions options_ = support::Database::shared().options(name_);
  db::Connection db_{options_};
};

TEST_F(EngineTest, ATableOfAnotherEngineIsRefusedByName) {
  db_.execute("CREATE TABLE of_an_application (id INT PRIMARY KEY) ENGINE = MyISAM");
  EXPECT_EQ(refusal(), "");
  db_.execute("ALTER TABLE notice ENGINE = MyISAM");
  EXPECT_NE(refusal().find("table `notice` has the storage engine MyISAM: Allot needs the "
                           "transactions and row locks of InnoDB; convert the table to InnoDB"),
            std::string::npos)
      << refusal();
  db_.execute("ALTER TABLE notice ENGINE = InnoDB");
  EXPECT_EQ(refusal(), "");
}

TEST_F(EngineTest, EveryTableOfAllotIsLookedAt) {
  auto results = db_.execute("SHOW TABLES");
  std::size_t tables = 0;
  while (const auto row = results.front().next()) {
    const std::string quoted = "'" + std::string(row->text(0)) + "'";
    EXPECT_NE(sql::k_foreign_engine.text.find(quoted), std::string_view::npos) << quoted;
    ++tables;
  }
  EXPECT_GT(tables, 20U);
}

// A real one: a member of a group in which every member accepts writes.
TEST(GroupOfSeveralWritersTest, IsRefused) {
  if (!support::on_mysql()) GTEST_SKIP() << "MariaDB has no Group Replication";
  const support::ReservedPort port;
  const std::string address = "127.0.0.1:" + std::to_string(port.number());
  support::Database server(
      {"--log-bin=bin", "--server-id=7", "--gtid-mode=ON", "--enforce-gtid-consistency=ON",
       "--performance-schema=ON", "--plugin-load-add=group_replication.so",
       "--loose-group-replication-group-name=aaaaaaaa-0000-0000-0000-000000000000",
       "--loose-group-replication-local-address=" + address,
       "--loose-group-replication-group-seeds=" + address,
       "--loose-group-replication-bootstrap-group=ON",
       "--loose-group-replication-start-on-boot=OFF",
       "--loose-group-replication-single-primary-mode=OFF"},
      support::Network::kTcp);
  server.administer("START GROUP_REPLICATION");
  // A member that is not ONLINE yet is not used.
  EXPECT_TRUE(support::eventually(
      [&] { return !support::db_error_of([&] { db::Connection{server.options()}; }); }));
  const std::string name = server.make_database();
  const db::ConnectOptions options = server.options(name);
  db::Connection db(options);
  const auto error = support::db_error_of([&] { rehearse(db, options); });
  ASSERT_TRUE(error);
  EXPECT_NE(std::string(error->what()).find("its Group Replication has several writers"),
            std::string::npos)
      << error->what();
}

// A server that enables semijoin for each session: a fence is not a join, so this has no effect.
TEST(RehearsalOfDefaultsTest, SemijoinMayBeOn) {
  support::Database server({"--init-connect=SET optimizer_switch = 'semijoin=on'"});
  const std::string name = server.make_database();
  db::Connection root = server.connect(name);
  root.execute("CREATE USER app@localhost; GRANT ALL ON " + name + ".* TO app@localhost");
  db::ConnectOptions app = server.options(name);
  app.user = "app";
  db::Connection db(app);
  EXPECT_EQ(support::value_of(db, "SELECT @@optimizer_switch LIKE '%semijoin=on%'"), "1");
  EXPECT_NO_THROW(rehearse(db, app));
}

TEST(UntestedTest, NamesWhatWasTested) {
  for (const char* known : {"10.11.6-MariaDB-0+deb12u1", "11.8.6-MariaDB-0+deb13u1", "9.7.4-2"}) {
    EXPECT_FALSE(untested(known)) << known;
  }
  for (const char* other :
       {"10.6.1-MariaDB", "11.4.8-MariaDB", "8.0.40", "8.4.3", "10.11.6", "9.10.0", ""}) {
    EXPECT_TRUE(untested(other)) << other;
  }
  EXPECT_EQ(*untested("8.4.3"),
            "this version of Allot was not tested on 8.4.3; it was tested on MariaDB 10.11 and "
            "11.8, and on MySQL 9.7");
}

}  // namespace
}  // namespace allot::queue
