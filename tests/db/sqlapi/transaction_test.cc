// SPDX-License-Identifier: Apache-2.0
// A task exists if and only if its caller's transaction commits, whatever the session settings are.
#include "db/sqlapi/fixture.h"

namespace allot::sqlapi {
namespace {

class TransactionTest : public SqlApiTest {
 protected:
  TransactionTest() {
    app_.execute(
        "DROP TABLE IF EXISTS orders;"
        "CREATE TABLE orders (id INT AUTO_INCREMENT PRIMARY KEY, n INT) ENGINE=InnoDB");
  }
  ~TransactionTest() override { observer_.execute("DROP TABLE orders"); }
  TransactionTest(const TransactionTest&) = delete;
  TransactionTest& operator=(const TransactionTest&) = delete;

  std::uint64_t orders() { return std::stoull(value("SELECT COUNT(*) FROM orders")); }
};

TEST_F(TransactionTest, ItsTasksComeAndGoWithIt) {
  for (const char* end : {"ROLLBACK", "COMMIT"}) {
    app_.execute("BEGIN; INSERT INTO orders (n) VALUES (1)");
    call_submit(app_, "default", "t", "plain");
    EXPECT_FALSE(call_submit(app_, "default", "t", "unique", unique("k")).existed);
    EXPECT_TRUE(call_submit(app_, "default", "t", "again", unique("k")).existed);
    app_.execute(R"(CALL allot_submit_many('[{"queue": "default", "type": "t"}]', @made))");
    EXPECT_TRUE(app_.in_transaction()) << "it is still the caller's";
    EXPECT_EQ(tasks() + keys(), 0U) << "other sessions do not see them yet";
    app_.execute(end);
    const std::uint64_t made = std::string(end) == "COMMIT" ? 1 : 0;
    EXPECT_EQ(tasks(), 3 * made);
    EXPECT_EQ(keys(), made);
    EXPECT_EQ(orders(), made);
  }
}

TEST_F(TransactionTest, WithoutOneACallIsItsOwn) {
  app_.execute("SET SESSION completion_type = 1");  // a COMMIT would begin another one
  call_submit(app_, "default", "t", "plain");
  call_submit(app_, "default", "t", "unique", unique("k"));
  app_.execute(R"(CALL allot_submit_many('[{"queue": "default", "type": "t"}]', @made))");
  EXPECT_FALSE(app_.in_transaction());
  EXPECT_EQ(tasks(), 3U);
  EXPECT_EQ(keys(), 1U);
}

TEST_F(TransactionTest, WithoutAutocommitItIsTheCallersToo) {
  app_.execute("SET SESSION autocommit = 0");
  call_submit(app_, "default", "t", "unique", unique("k"));
  EXPECT_EQ(tasks() + keys(), 0U);
  app_.execute("ROLLBACK");
  EXPECT_EQ(tasks() + keys(), 0U);
  call_submit(app_, "default", "t", "unique", unique("k"));
  app_.execute("COMMIT");
  EXPECT_EQ(tasks() + keys(), 2U);
}

// The caller's own savepoint, whatever its name, survives a call.
TEST_F(TransactionTest, TheCallersSavepointStands) {
  app_.execute("BEGIN; INSERT INTO orders (n) VALUES (1); SAVEPOINT mine");
  call_submit(app_, "default", "t", "unique", unique("k"));
  app_.execute(R"(CALL allot_submit_many('[{"queue": "default", "type": "t"}]', @made))");
  app_.execute("ROLLBACK TO SAVEPOINT mine; COMMIT");
  EXPECT_EQ(tasks() + keys(), 0U);
  EXPECT_EQ(orders(), 1U);
}

TEST_F(TransactionTest, AFailedCallLeavesNothingAndTheTransactionContinues) {
  app_.execute("BEGIN; INSERT INTO orders (n) VALUES (1)");
  // The row of the task cannot be inserted, after its key was claimed.
  observer_.execute("LOCK TABLES task READ");
  app_.execute("SET SESSION lock_wait_timeout = 1");
  EXPECT_EQ(support::error_class_of([&] { call_submit(app_, "default", "t", "x", unique("k")); }),
            "retryable");
  observer_.execute("UNLOCK TABLES");
  call_submit(app_, "default", "t", "other", unique("l"));
  app_.execute("COMMIT");
  EXPECT_EQ(value("SELECT GROUP_CONCAT(unique_key) FROM task_unique"), "l");
  EXPECT_EQ(tasks(), 1U);
  EXPECT_EQ(orders(), 1U);
}

// An existing row would collide with the same clock and salt.
TEST_F(TransactionTest, AKeyThatIsTakenIsAnotherSalt) {
  // In one microsecond there are 4,096 keys, and every eighth of them is taken.
  app_.execute("SET timestamp = 1790000000.123456");
  const Made first = call_submit(app_, "narrow", "t", "first");
  const std::uint64_t base = queue::TaskId::parse(first.id)->first_key & ~std::uint64_t{4095};
  observer_.execute(
      "DELETE FROM task; INSERT INTO task (queue_id, partition_no, prio, run_key, type,"
      " payload) SELECT " +
      std::to_string(narrow_.queue_id) + ", 0, 1, " + std::to_string(base) +
      " + seq, 't', '' FROM " + support::numbers(0, 511));
  for (int i = 0; i < 50; ++i) {
    const Made plain = call_submit(app_, "narrow", "t", "plain");
    EXPECT_GE(queue::TaskId::parse(plain.id)->first_key, base + 512);
    const Made one = call_submit(app_, "narrow", "t", "unique", unique(std::to_string(i)));
    EXPECT_FALSE(one.existed);
    EXPECT_EQ(task(one)->payload, "unique");
  }
  EXPECT_EQ(keys(), 50U);
  EXPECT_EQ(tasks(), 512U + 100);
}

TEST_F(TransactionTest, AnOldSnapshotGetsTheWinnerToo) {
  app_.execute("BEGIN; INSERT INTO orders (n) VALUES (1); SELECT COUNT(*) FROM task_unique");
  const Made winner = call_submit(observer_, "default", "t", "x", unique("k"));
  if (support::keeps_snapshots(observer_)) {
    const auto call = [&] { call_submit(app_, "default", "t", "x", unique("k")); };
    EXPECT_EQ(support::error_class_of(call), "retryable");
    EXPECT_EQ(support::value_of(app_, "SELECT COUNT(*) FROM orders"), "0") << "as by a deadlock";
    app_.execute("BEGIN");
  }
  const Made loser = call_submit(app_, "default", "t", "x", unique("k"));
  EXPECT_TRUE(loser.existed);
  EXPECT_EQ(loser.id, winner.id);
  app_.execute("ROLLBACK");
}

// S58: by SQL as through the client.
TEST_F(TransactionTest, AKeyFromAClockThatWasAheadIsTakenForItsTimeOnly) {
  const Made first = call_submit(app_, "default", "t", "first", unique("k"));
  for (const char* left : {"1 SECOND", "1 DAY", "365 DAY"}) {
    observer_.execute(
        "DELETE FROM task; UPDATE task_unique SET free_at = UTC_TIMESTAMP(6) + INTERVAL " +
        std::string(left));
    EXPECT_EQ(call_submit(app_, "default", "t", "again", unique("k")).id, first.id) << left;
    EXPECT_EQ(value("SELECT free_at BETWEEN UTC_TIMESTAMP(6)"
                    " AND UTC_TIMESTAMP(6) + INTERVAL unique_for_us MICROSECOND FROM task_unique"),
              "1")
        << left;
  }
}

TEST_F(TransactionTest, ATriggerMayCallIt) {
  app_.execute(
      "CREATE TRIGGER orders_task AFTER INSERT ON orders FOR EACH ROW"
      " CALL allot_submit('default', IF(NEW.n < 0, 'no good', 't'), NEW.n,"
      "                   JSON_OBJECT('unique_key', CONCAT('order ', NEW.n)), @id, @existed)");
  app_.execute("INSERT INTO orders (n) VALUES (1), (2), (2), (3)");
  EXPECT_EQ(value("SELECT GROUP_CONCAT(payload ORDER BY payload) FROM task"), "1,2,3");
  EXPECT_THROW(app_.execute("INSERT INTO orders (n) VALUES (4), (-1)"), db::DbError);
  app_.execute("BEGIN; INSERT INTO orders (n) VALUES (5); ROLLBACK");
  EXPECT_EQ(tasks(), 3U);
  EXPECT_EQ(keys(), 3U);
  EXPECT_EQ(orders(), 4U);
}

TEST_F(TransactionTest, WhateverTheSessionIsLike) {
  const char* settings[] = {
      "sql_mode = ''",
      "sql_mode = 'ANSI,NO_BACKSLASH_ESCAPES'",
      "sql_mode = 'ORACLE'",
      "sql_mode = 'TRADITIONAL,NO_UNSIGNED_SUBTRACTION,PAD_CHAR_TO_FULL_LENGTH,PIPES_AS_CONCAT'",
      "time_zone = '-11:30'",
      "sql_safe_updates = 1",
      "sql_auto_is_null = 1",
      "div_precision_increment = 0",
      "default_regex_flags = 'DOTALL,EXTENDED,MULTILINE,UNGREEDY'",
      "character_set_client = latin1",
      "character_set_connection = gbk",
      "collation_connection = utf8mb4_general_ci",
      "lc_time_names = 'de_DE'",
      "TRANSACTION ISOLATION LEVEL SERIALIZABLE",
      "TRANSACTION ISOLATION LEVEL READ UNCOMMITTED",
      "TRANSACTION ISOLATION LEVEL READ COMMITTED",
      "completion_type = 1",
      "group_concat_max_len = 4",
  };
  std::size_t unknown = 0;
  for (const char* setting : settings) {
    observer_.execute("DELETE FROM task");
    db::Connection own = connect();
    try {
      own.execute("SET SESSION " + std::string(setting));
    } catch (const db::DbError& error) {
      EXPECT_TRUE(support::on_mysql()) << error.what();
      ++unknown;
      continue;
    }
    for (const char* options : {"NULL", R"('{"prio": 2, "delay": "60m", "unique_key": "k"}')",
                                R"('{"run_at": "2149-12-31T19:00:00.5+01:00"}')"}) {
      own.execute("CALL allot_submit('default', 't', X'00ff275c22', " + std::string(options) +
                  ", @id, @existed)");
      observer_.execute("DELETE FROM task_unique");
    }
    EXPECT_THROW(own.execute("CALL allot_submit('default', 'a\nb', '', NULL, @id, @existed)"),
                 db::DbError)
        << setting;
    EXPECT_EQ(value("SELECT CONCAT(COUNT(*), MIN(HEX(payload)), MAX(HEX(payload))) FROM task"),
              "300FF275C2200FF275C22")
        << setting;
    EXPECT_EQ(
        value(
            "SELECT SUBSTRING_INDEX(GROUP_CONCAT(ROUND(TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6),"
            " '2025-01-01' + INTERVAL (run_key >> 12) MICROSECOND) / 60000000)"
            " ORDER BY run_key), ',', 2) FROM task"),
        "0,60")
        << setting;
    EXPECT_EQ(value("SELECT MAX('2025-01-01' + INTERVAL (run_key >> 12) MICROSECOND)"
                    " BETWEEN '2149-12-31 18:00:00' AND '2149-12-31 18:00:02' FROM task"),
              "1")
        << setting;
  }
  EXPECT_LE(unknown, 2U) << "MySQL has no mode ORACLE and no default_regex_flags";
}

}  // namespace
}  // namespace allot::sqlapi
