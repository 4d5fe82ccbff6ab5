// SPDX-License-Identifier: Apache-2.0
// The block loop's connection under everything that a server does to its clients.
#include "process/session.h"

#include <future>

#include "db/worker/fixture.h"
#include "support/commit_stop.h"
#include "support/eventually.h"

namespace allot::worker {
namespace {

using std::chrono::milliseconds;
using support::Database;
using support::eventually;

class SessionTest : public WorkerTest {
 protected:
  SessionTest() : session_(impatient(), slot_, milliseconds(500)) {}

  [[nodiscard]] db::ConnectOptions impatient() const {
    db::ConnectOptions options = this->options();
    options.connect_timeout = milliseconds(1'000);
    options.call_timeout = milliseconds(1'000);
    return options;
  }
  static std::uint64_t connection(process::Session& session) {
    return session.call([](db::Connection& db) { return db.id(); });
  }
  std::uint64_t connection() { return connection(session_); }
  static std::uint64_t ask(process::Session& session) {
    return session.call([](db::Connection& db) { return support::number_of(db, "SELECT 41 + 1"); });
  }
  std::uint64_t ask() { return ask(session_); }
  bool on_the_server(std::uint64_t connection) {
    return value("SELECT COUNT(*) FROM information_schema.processlist WHERE id = " +
                 std::to_string(connection)) == "1";
  }

  process::Session session_;
  process::Session patient_{options(), slot_,
                            milliseconds(500)};  // waits longer for a call than for a lock
};

TEST_F(SessionTest, AKilledConnectionIsReplaced) {
  for (int round = 0; round < 3; ++round) {
    const std::uint64_t before = connection(patient_);
    db_.execute("KILL " + std::to_string(before));
    EXPECT_EQ(ask(patient_), 42U);
    EXPECT_NE(connection(patient_), before);
    EXPECT_EQ(raw_slot_->connection_ids[0], connection(patient_)) << "what a settler would end";
  }
  EXPECT_EQ(patient_.generation(), 3U);
}

TEST_F(SessionTest, AServerThatDiesIsWaitedFor) {
  ASSERT_EQ(ask(), 42U);
  Database::shared().kill9();
  auto answer = std::async(std::launch::async, [&] { return ask(); });
  EXPECT_EQ(answer.wait_for(milliseconds(300)), std::future_status::timeout);
  Database::shared().start();
  EXPECT_EQ(answer.get(), 42U);
}

// No RST, no FIN, no answer: only the deadline of the call ends it.
TEST_F(SessionTest, AServerThatSaysNothingIsGivenUpAndFoundAgain) {
  const std::uint64_t before = connection();
  std::future<std::uint64_t> answer;
  {
    const Database::Stall stall(Database::shared());
    answer = std::async(std::launch::async, [&] { return ask(); });
    // Its connection is dropped, and the next one fails, too.
    EXPECT_EQ(answer.wait_for(milliseconds(2'500)), std::future_status::timeout);
    EXPECT_TRUE(eventually([&] { return raw_slot_->database_unreachable == 1; }));
  }
  EXPECT_EQ(answer.get(), 42U);
  EXPECT_NE(connection(), before);
  EXPECT_TRUE(eventually([&] { return !on_the_server(before); }));
}

// A call that was given up may still be executed, when a lock is free or a packet gets through: it
// must not come after a later call. A lease that is taken late would have no holder for a whole
// TTL.
TEST_F(SessionTest, ALeaseIsNotTakenBehindTheBackOfItsHolder) {
  const queue::LeaseStore leases(queue::make_holder("test", "/"), std::chrono::minutes(1));
  ASSERT_EQ(ask(), 42U);
  db::Connection holding(options());
  holding.execute(
      "BEGIN; SELECT * FROM q_lock_table WHERE queue_id > 0 AND partition_no = 0 FOR UPDATE");
  int tries = 0;
  auto leased = std::async(std::launch::async, [&] {
    return session_.call([&](db::Connection& db) {
      // The second try uses another partition, like a worker with an old hint.
      return leases.lease(db, partition(tries++ == 0 ? 0 : 1), {}).has_value();
    });
  });
  EXPECT_TRUE(leased.get());
  holding.execute("COMMIT");
  const std::string taken =
      "SELECT GROUP_CONCAT(partition_no) FROM q_lock_table WHERE state <> 'FREE'";
  EXPECT_FALSE(eventually([&] { return value(taken) != "1"; }, milliseconds(500))) << value(taken);
}

// A held lease must not expire while its holder waits for another session's lock.
TEST_F(SessionTest, WaitsForALockAsItsOptionsSay) {
  db::ConnectOptions options = impatient();
  options.lock_wait = process::lock_wait(std::chrono::seconds(7));
  db::Connection db(options);
  EXPECT_EQ(support::value_of(db, "SELECT CONCAT(@@innodb_lock_wait_timeout, @@lock_wait_timeout)"),
            "22");
  EXPECT_EQ(process::lock_wait(milliseconds(1000)), std::chrono::seconds(1))
      << "the least there is";
  EXPECT_EQ(process::lock_wait(std::chrono::hours(1)), std::chrono::seconds(5));
}

TEST_F(SessionTest, ALockWaitIsSentAgainAndCounted) {
  patient_.call([](db::Connection& db) { return db.execute("SET innodb_lock_wait_timeout = 1"); });
  db::Connection holding(options());
  holding.execute(
      "BEGIN; SELECT * FROM q_lock_table WHERE queue_id > 0 AND partition_no = 0 FOR UPDATE");
  const std::uint64_t before = connection(patient_);
  auto done = std::async(std::launch::async, [&] {
    return patient_.call([](db::Connection& db) {
      return db
          .execute("UPDATE q_lock_table SET low_key = 7 WHERE queue_id > 0 AND partition_no = 0")
          .size();
    });
  });
  EXPECT_TRUE(eventually([&] { return raw_slot_->lock_waits >= 2; }));
  holding.execute("COMMIT");
  EXPECT_EQ(done.get(), 1U);
  EXPECT_EQ(connection(patient_), before) << "no reason to connect again";
}

TEST_F(SessionTest, ADeadlockIsSentAgainAndCounted) {
  static constexpr sql::SqlText kBoth{
      "both",
      "UPDATE q_lock_table SET low_key = 7 WHERE queue_id > 0 AND partition_no = 0;"
      "UPDATE q_lock_table SET low_key = 7 WHERE queue_id > 0 AND partition_no = 1"};
  ASSERT_EQ(ask(), 42U);
  // The other transaction has written more, so that the server picks this one as victim.
  db::Connection other(options());
  other.execute(
      "BEGIN; UPDATE q_lock_table SET low_key = 8 WHERE queue_id > 0 AND partition_no IN (1, 2, 3);"
      "INSERT INTO task (queue_id, partition_no, prio, run_key, type, payload)"
      " SELECT 1, 1, 1, seq, 't', 'x' FROM " +
      support::numbers(1, 100));
  auto done = std::async(std::launch::async, [&] {
    return session_.call([](db::Connection& db) {
      const std::vector<db::Statement> both{db::Statement(kBoth)};
      return db.transact(both).size();
    });
  });
  ASSERT_TRUE(support::wait_for_lock_waits(db_, 1));
  other.execute(
      "UPDATE q_lock_table SET low_key = 8 WHERE queue_id > 0 AND partition_no = 0; COMMIT");
  EXPECT_EQ(done.get(), 2U);
  EXPECT_EQ(raw_slot_->deadlocks, 1U);
  EXPECT_EQ(value("SELECT GROUP_CONCAT(low_key ORDER BY partition_no) FROM q_lock_table"),
            "7,7,8,8");
}

// It is unknown whether it was committed: the reply never came. Sent again, it takes effect only
// once.
TEST_F(SessionTest, ACommitWhoseReplyIsLostIsDoneOnce) {
  const queue::LeaseStore leases(queue::make_holder("test", "/"), std::chrono::minutes(1));
  const queue::Verbs tasks(leases.holder());
  put(partition(0), {1, 1});
  const auto block = leases.lease(db_, partition(0), {});
  ASSERT_TRUE(block);
  ASSERT_EQ(ask(), 42U);
  std::optional<support::CommitStop> stop(db_);
  auto landed = std::async(std::launch::async, [&] {
    return session_.call([&](db::Connection& db) {
      return tasks.retry(db, queue::fence(block->lease, block->tasks.at(0)), 1,
                         std::chrono::seconds(9), {"retry", "no"});
    });
  });
  EXPECT_EQ(landed.wait_for(milliseconds(1'500)), std::future_status::timeout);
  stop.reset();
  EXPECT_EQ(landed.get(), queue::Fenced::kWritten);
  EXPECT_EQ(value("SELECT CONCAT(COUNT(*), ' ', MAX(attempt)) FROM task"), "1 1");
  EXPECT_EQ(value("SELECT COUNT(*) FROM task_attempt"), "1");
}

// An account without SUPER, as it should be.
TEST_F(SessionTest, AServerThatIsReadOnlyForAWhileIsWaitedFor) {
  db_.execute("CREATE USER IF NOT EXISTS plain@localhost; GRANT ALL ON " + name_ +
              ".* TO plain@localhost");
  db::ConnectOptions plain = impatient();
  plain.user = "plain";
  process::Session session(plain, slot_, milliseconds(500));
  const auto write = [&] {
    return session.call([](db::Connection& db) {
      return db
          .execute("UPDATE q_lock_table SET low_key = 9 WHERE queue_id > 0 AND partition_no = 0")
          .size();
    });
  };
  ASSERT_EQ(write(), 1U);
  db_.execute("SET GLOBAL read_only = 1");
  auto written = std::async(std::launch::async, write);
  EXPECT_EQ(written.wait_for(milliseconds(500)), std::future_status::timeout);
  db_.execute("SET GLOBAL read_only = 0");
  EXPECT_EQ(written.get(), 1U);
}

// A migration runs concurrently: the worker waits for the missing column, and reports it.
TEST_F(SessionTest, ATableThatIsAwayIsWaitedFor) {
  put(partition(0), {1, 1});
  db_.execute("RENAME TABLE task TO elsewhere");
  auto fetched = std::async(std::launch::async, [&] {
    return session_.call(
        [&](db::Connection& db) { return queue::fetch(db, partition(0), {}).size(); });
  });
  EXPECT_EQ(fetched.wait_for(milliseconds(300)), std::future_status::timeout);
  db_.execute("RENAME TABLE elsewhere TO task");
  EXPECT_EQ(fetched.get(), 1U);
}

// A table change waits for transactions, and all others wait behind it; this side decides for how
// long.
TEST_F(SessionTest, ATableThatIsBeingChangedIsALockWait) {
  put(partition(0), {1, 1});
  EXPECT_EQ(value("SELECT @@lock_wait_timeout"), "5");
  patient_.call([](db::Connection& db) { return db.execute("SET lock_wait_timeout = 1"); });
  db_.execute("LOCK TABLES task WRITE");
  auto fetched = std::async(std::launch::async, [&] {
    return patient_.call(
        [&](db::Connection& db) { return queue::fetch(db, partition(0), {}).size(); });
  });
  EXPECT_TRUE(eventually([&] { return raw_slot_->lock_waits >= 1; }));
  db_.execute("UNLOCK TABLES");
  EXPECT_EQ(fetched.get(), 1U);
}

}  // namespace
}  // namespace allot::worker
