// SPDX-License-Identifier: Apache-2.0
// A server with all defaults wrong for us, so that each of our session settings counts.
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

TEST_F(SessionTest, WhatIsWrittenIsCommittedAndReadBackByteForByte) {
  const std::string name = server_->make_database();
  // 0xbf5c is one character in gbk and ends in a backslash: the classic way out of a literal.
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
