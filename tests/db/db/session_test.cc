// SPDX-License-Identifier: Apache-2.0
// A server with wrong defaults everywhere, so that each session setting of Allot is tested.
// Rule: S64.
#include <gtest/gtest.h>

#include "db/connection.h"
#include "db/migrate.h"
#include "support/database.h"

namespace allot::db {
namespace {

using support::Database;

class SessionTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { server_ = new Database(support::hostile_settings()); }
  static void TearDownTestSuite() {
    delete server_;
    server_ = nullptr;
  }
  static std::string value(Connection& db, const std::string& expression) {
    return support::value_of(db, "SELECT " + expression);
  }

  static Database* server_;
};
Database* SessionTest::server_ = nullptr;

TEST_F(SessionTest, SettingsAreOurs) {
  Connection db(server_->options());
  EXPECT_EQ(value(db, "@@time_zone"), "+00:00");
  EXPECT_EQ(value(db, "@@" + support::isolation_variable()), "READ-COMMITTED");
  EXPECT_EQ(value(db, "@@autocommit"), "1");
  EXPECT_EQ(value(db, "@@completion_type"), "NO_CHAIN");
  EXPECT_EQ(value(db, "@@innodb_lock_wait_timeout"), "5");
  EXPECT_EQ(value(db, "@@lock_wait_timeout"), "5");
  EXPECT_EQ(value(db, "@@sql_safe_updates"), "1");
  EXPECT_EQ(value(db, "@@sql_mode"),
            "STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION");
  for (const char* name : {"client", "connection", "results"}) {
    EXPECT_EQ(value(db, std::string("@@character_set_") + name), "utf8mb4");
  }
  // A client frozen in an open transaction must not hold its locks for ever. MySQL has no such
  // setting.
  if (!support::on_mysql()) {
    EXPECT_EQ(value(db, "@@idle_write_transaction_timeout"), "30");
  }
}

// Limits that a server can only set while it runs.
TEST_F(SessionTest, NoLimitOfTheServerCutsAnAnswer) {
  Connection root(server_->options());
  for (const char* limit : {"0", "1"}) {
    root.execute(std::string("SET GLOBAL sql_select_limit = ") + limit);
    Connection db(server_->options());
    auto three = db.execute("SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3");
    EXPECT_EQ(three.front().row_count(), 3U) << limit;
  }
  root.execute("SET GLOBAL sql_select_limit = 18446744073709551615");
}

TEST_F(SessionTest, StatementsReturnTheSameOnEveryServer) {
  Connection db = server_->connect(server_->make_empty_database());
  EXPECT_EQ(value(db, "LENGTH(GROUP_CONCAT(REPEAT('x', 3000)))"), "3000");
  EXPECT_EQ(value(db, "1 / 3"), "0.3333");
  EXPECT_EQ(value(db, "'' IS NULL"), "0");
  EXPECT_EQ(value(db, "\"text\""), "text");
  EXPECT_EQ(value(db, "@@collation_connection"), "utf8mb4_general_ci");
  auto many = db.execute(
      "SELECT COUNT(*) FROM information_schema.collations AS a JOIN information_schema.collations");
  EXPECT_GT(many.front().one().u64(0), 1U) << "beyond max_join_size of the server";
  auto deep = db.execute(
      "WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 31)"
      " SELECT COUNT(*) FROM n");
  EXPECT_EQ(deep.front().one().u64(0), 32U);
  db.execute(
      "CREATE TEMPORARY TABLE sorted (a TEXT); INSERT INTO sorted VALUES"
      " (CONCAT(REPEAT('x', 100), 'b')), (CONCAT(REPEAT('x', 100), 'a'))");
  EXPECT_EQ(value(db, "RIGHT(a, 1) FROM sorted ORDER BY a LIMIT 1"), "a");
}

TEST_F(SessionTest, ARowThatIsCertainAndDoesNotComeIsAnError) {
  Connection db(server_->options());
  auto none = db.execute("SELECT 1 FROM DUAL WHERE FALSE");
  EXPECT_THROW((void)none.front().one(), DbError);
}

TEST_F(SessionTest, WritesAreCommittedAndReadBackByteForByte) {
  const std::string name = server_->make_database();
  // 0xbf5c is one character in gbk and ends in a backslash: the classic way to break out of a
  // literal.
  const std::string text = "\xbf\\' OR 1 -- \xc3\xa4";
  {
    Connection db = server_->connect(name);
    db.execute("CREATE TABLE t (a BLOB) ENGINE=InnoDB");
    constexpr sql::SqlText kPut{"put", "INSERT INTO t VALUES (:a)"};
    db.run({Statement(kPut).set_bytes("a", text)});
  }
  Connection db = server_->connect(name);
  EXPECT_EQ(value(db, "a FROM t"), text);
}

TEST_F(SessionTest, OurTablesHaveRowLocks) {
  const std::string name = server_->make_database();
  Connection db = server_->connect(name);
  auto results = db.execute(
      "SELECT table_name, engine FROM information_schema.tables WHERE table_schema = DATABASE()");
  EXPECT_GE(results.front().row_count(), 7U);
  while (const auto row = results.front().next()) {
    EXPECT_EQ(row->text(1), "InnoDB") << row->text(0);
  }
}

}  // namespace
}  // namespace allot::db
