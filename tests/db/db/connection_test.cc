// SPDX-License-Identifier: Apache-2.0
#include "db/connection.h"

#include <gtest/gtest.h>

#include "support/database.h"
#include "support/db_error.h"

namespace allot::db {
namespace {

using support::db_error_of;
using support::error_class_of;

class ConnectionTest : public testing::Test {
 protected:
  ConnectionTest()
      : name_(support::Database::shared().make_empty_database()),
        db_(support::Database::shared().connect(name_)) {
    db_.execute("CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, a INT) ENGINE=InnoDB");
  }

  std::uint64_t rows() {
    Connection other = support::Database::shared().connect(name_);
    return support::number_of(other, "SELECT COUNT(*) FROM t");
  }

  std::string name_;
  Connection db_;
};

constexpr sql::SqlText kInsert{"insert", "INSERT INTO t (a) VALUES (:a)"};
constexpr sql::SqlText kInsertTwice{"insert_twice",
                                    "INSERT INTO t (a) VALUES (:a);\nINSERT INTO t (a) VALUES "
                                    "(:a), (:a);\n"};
constexpr sql::SqlText kSelect{"select", "SELECT a FROM t ORDER BY id"};
constexpr sql::SqlText kBroken{"broken", "INSERT INTO no_such_table VALUES (1)"};

TEST_F(ConnectionTest, OneResultForEachSqlStatement) {
  auto results = db_.run(
      {Statement(kInsertTwice).set("a", 7), Statement(kSelect), Statement(kInsert).set("a", 8)});
  ASSERT_EQ(results.size(), 4U);
  EXPECT_EQ(results[0].affected(), 1U);
  EXPECT_EQ(results[0].insert_id(), 1U);
  EXPECT_EQ(results[1].affected(), 2U);
  EXPECT_EQ(results[2].row_count(), 3U);
  EXPECT_EQ(results[3].insert_id(), 4U);
  int seen = 0;
  while (const auto row = results[2].next()) {
    EXPECT_EQ(row->u64(0), 7U);
    ++seen;
  }
  EXPECT_EQ(seen, 3);
  EXPECT_FALSE(results[0].next()) << "an INSERT has no rows";
}

TEST_F(ConnectionTest, FieldsOfARow) {
  auto results = db_.execute("SELECT NULL, 18446744073709551615, 'a\\0b', ''");
  const auto row = results.front().next();
  ASSERT_TRUE(row);
  EXPECT_TRUE(row->is_null(0));
  EXPECT_EQ(row->u64(0), 0U);
  std::optional<std::uint64_t> none = 1;
  std::optional<std::uint64_t> largest;
  row->read(0, none, largest);
  EXPECT_EQ(none, std::nullopt);
  EXPECT_EQ(row->text(0), "");
  EXPECT_EQ(largest, UINT64_MAX);
  EXPECT_EQ(row->text(2), std::string_view("a\0b", 3));
  EXPECT_FALSE(row->is_null(3));
  EXPECT_FALSE(results.front().next());
}

// A row outlives the results that it belongs to (this failed once, and a lease's epoch was read
// from freed memory).
TEST_F(ConnectionTest, ARowKeepsItsResultAlive) {
  const auto row = db_.execute("SELECT 4711, 'text'").front().next();
  db_.execute("SELECT 1");
  ASSERT_TRUE(row);
  EXPECT_EQ(row->u64(0), 4711U);
  EXPECT_EQ(row->text(1), "text");
}

TEST_F(ConnectionTest, TransactionLeavesOutItsFrame) {
  const std::vector<Statement> statements{Statement(kInsertTwice).set("a", 1), Statement(kSelect)};
  auto results = db_.transact(statements);
  ASSERT_EQ(results.size(), 3U);
  EXPECT_EQ(results[0].affected(), 1U);
  EXPECT_EQ(results[2].row_count(), 3U);
  EXPECT_EQ(rows(), 3U) << "committed";
}

TEST_F(ConnectionTest, AnErrorInATransactionUndoesItAll) {
  const std::vector<Statement> statements{Statement(kInsert).set("a", 1), Statement(kBroken),
                                          Statement(kInsert).set("a", 2)};
  const auto error = db_error_of([&] { db_.transact(statements); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->number(), 1146U);
  EXPECT_EQ(error->error_class(), ErrorClass::kRefused);
  EXPECT_EQ(std::string(error->what()).rfind("insert+broken+insert: database at socket ", 0), 0U)
      << error->what();
  EXPECT_EQ(rows(), 0U);
  // The connection remains usable, outside of any transaction.
  db_.run({Statement(kInsert).set("a", 3)});
  EXPECT_EQ(rows(), 1U);
}

TEST_F(ConnectionTest, AnErrorInATripStopsItThere) {
  EXPECT_EQ(error_class_of([&] {
              db_.run({Statement(kInsert).set("a", 1), Statement(kBroken),
                       Statement(kInsert).set("a", 2)});
            }),
            "refused");
  EXPECT_EQ(rows(), 1U) << "the first was committed by itself, the third not executed";
  db_.run({Statement(kInsert).set("a", 3)});
  EXPECT_EQ(rows(), 2U);
}

TEST_F(ConnectionTest, ADuplicateKeyIsADuplicate) {
  db_.execute("INSERT INTO t VALUES (5, 1)");
  EXPECT_EQ(error_class_of([&] { db_.execute("INSERT INTO t VALUES (5, 1)"); }), "duplicate");
}

// "0 rows" must always mean that the fence failed, never that the value was already equal.
TEST_F(ConnectionTest, AnUpdateReportsMatchedRows) {
  db_.execute("INSERT INTO t VALUES (5, 1)");
  EXPECT_EQ(db_.execute("UPDATE t SET a = 1 WHERE id = 5").front().affected(), 1U);
  EXPECT_EQ(db_.execute("UPDATE t SET a = 1 WHERE id = 6").front().affected(), 0U);
}

TEST_F(ConnectionTest, EveryByteGoesThereAndBack) {
  db_.execute("CREATE TABLE b (data BLOB, name TEXT CHARACTER SET utf8mb4)");
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(255 - i);
  const std::string text = "\\ ' \" % _ \x1a \r\n\t \xc3\xa4 \xe2\x82\xac \xf0\x9f\x90\x98";
  constexpr sql::SqlText kPut{"put", "INSERT INTO b VALUES (:data, :name)"};
  db_.run({Statement(kPut).set_bytes("data", bytes).set("name", text)});
  auto results = db_.execute("SELECT data, name FROM b");
  const auto row = results.front().next();
  EXPECT_EQ(row->text(0), bytes);
  EXPECT_EQ(row->text(1), text);
}

TEST_F(ConnectionTest, AStatementOverTheServersLimitIsRefusedAndTheConnectionStays) {
  EXPECT_EQ(db_.max_packet(), std::uint64_t{64} << 20);
  const std::string huge = "SELECT '" + std::string(db_.max_packet(), 'x') + "'";
  const auto error = db_error_of([&] { db_.execute(huge); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->error_class(), ErrorClass::kFatal);
  EXPECT_NE(std::string(error->what()).find("max_allowed_packet of 67108864"), std::string::npos);
  EXPECT_EQ(support::number_of(db_, "SELECT 1"), 1U);
}

TEST_F(ConnectionTest, KnowsItsId) {
  EXPECT_EQ(support::number_of(db_, "SELECT CONNECTION_ID()"), db_.id());
  Connection other = support::Database::shared().connect();
  EXPECT_NE(other.id(), db_.id());
}

}  // namespace
}  // namespace allot::db
