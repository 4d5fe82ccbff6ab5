// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <future>

#include "base/clock.h"
#include "base/unique_fd.h"
#include "db/connection.h"
#include "support/database.h"
#include "support/db_error.h"
#include "support/eventually.h"

namespace allot::db {
namespace {

using std::chrono::seconds;
using support::Database;
using support::db_error_of;
using support::error_class_of;
using support::eventually;

ConnectOptions impatient(const std::string& database = {}) {
  ConnectOptions options = Database::shared().options(database);
  options.connect_timeout = seconds(1);
  options.call_timeout = seconds(1);
  return options;
}

TEST(ConnectionErrorTest, WrongPasswordIsRefusedAndNotRepeatedInTheMessage) {
  ConnectOptions options = Database::shared().options();
  options.password = "wrong-secret";
  const auto error = db_error_of([&] { Connection{options}; });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->error_class(), ErrorClass::kRefused);
  EXPECT_EQ(error->exit_code(), kExitConfig);
  EXPECT_EQ(std::string(error->what()).find("wrong-secret"), std::string::npos);
  EXPECT_NE(std::string(error->what()).find(Database::shared().socket()), std::string::npos);
}

TEST(ConnectionErrorTest, UnknownDatabaseIsRefused) {
  EXPECT_EQ(error_class_of([] { Database::shared().connect("no_such_database"); }), "refused");
}

TEST(ConnectionErrorTest, AMissingSocketIsGone) {
  ConnectOptions options = Database::shared().options();
  options.socket += ".not";
  const auto error = db_error_of([&] { Connection{options}; });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->error_class(), ErrorClass::kGone);
  EXPECT_EQ(error->exit_code(), kExitUnavailable);
}

// A listener that never answers: a server that hangs in its start, or a host behind a packet drop.
TEST(ConnectionErrorTest, AServerThatDoesNotAnswerIsGoneAfterTheTimeout) {
  const UniqueFd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  ASSERT_EQ(::bind(listener.get(), generic, size), 0);
  ASSERT_EQ(::listen(listener.get(), 8), 0);
  ASSERT_EQ(::getsockname(listener.get(), generic, &size), 0);
  ConnectOptions options = impatient();
  options.socket.clear();
  options.servers = {{"127.0.0.1", ntohs(address.sin_port)}};
  const Nanos start = mono_ns();
  EXPECT_EQ(error_class_of([&] { Connection{options}; }), "gone");
  EXPECT_LT(mono_ns() - start, 8 * kSecond);
}

TEST(ConnectionErrorTest, ACallThatTakesTooLongIsGoneAndSoIsItsConnection) {
  Connection db(impatient());
  const Nanos start = mono_ns();
  const auto error = db_error_of([&] { db.execute("SELECT SLEEP(30)"); });
  EXPECT_LT(mono_ns() - start, 10 * kSecond);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->error_class(), ErrorClass::kGone);
  EXPECT_NE(std::string(error->what()).find("no response within 1 s:"), std::string::npos)
      << error->what();
  EXPECT_EQ(error_class_of([&] { db.execute("SELECT 1"); }), "gone");
}

TEST(ConnectionErrorTest, AKilledConnectionIsGone) {
  Connection db = Database::shared().connect();
  Database::shared().connect().execute("KILL " + std::to_string(db.id()));
  const auto error = db_error_of([&] { db.execute("SELECT 1"); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->error_class(), ErrorClass::kGone);
  EXPECT_EQ(std::string(error->what()).find("no answer"), std::string::npos) << error->what();
  EXPECT_EQ(error_class_of([&] { db.execute("SELECT 1"); }), "gone");
}

TEST(ConnectionErrorTest, AConnectionKilledInATransactionIsGoneAndNothingIsWritten) {
  const std::string name = Database::shared().make_empty_database();
  Connection db = Database::shared().connect(name);
  db.execute("CREATE TABLE t (a INT) ENGINE=InnoDB");
  static constexpr sql::SqlText kSlow{"slow", "INSERT INTO t VALUES (1); SELECT SLEEP(60)"};
  auto outcome = std::async(std::launch::async, [&db] {
    const std::vector<Statement> statements{Statement(kSlow)};
    return error_class_of([&] { db.transact(statements); });
  });
  Connection killer = Database::shared().connect(name);
  ASSERT_TRUE(eventually([&] {
    return killer
               .execute(
                   "SELECT 1 FROM information_schema.processlist WHERE state = 'User sleep'"
                   " AND id = " +
                   std::to_string(db.id()))
               .front()
               .row_count() == 1;
  }));
  killer.execute("KILL " + std::to_string(db.id()));
  EXPECT_EQ(outcome.get(), "gone");
  EXPECT_EQ(support::number_of(killer, "SELECT COUNT(*) FROM t"), 0U);
}

TEST(ConnectionErrorTest, AServerThatDiesIsGoneAndAnswersANewConnectionAfterItsReturn) {
  Database server;
  Connection db = server.connect();
  server.kill9();
  EXPECT_EQ(error_class_of([&] { db.execute("SELECT 1"); }), "gone");
  EXPECT_EQ(error_class_of([&] { server.connect(); }), "gone");
  server.start();
  EXPECT_EQ(error_class_of([&] { db.execute("SELECT 1"); }), "gone") << "never reconnects itself";
  EXPECT_EQ(server.connect().execute("SELECT 1").front().next()->u64(0), 1U);
}

// S2: a former primary after a failover. Also while connected, for an account without SUPER.
TEST(ConnectionErrorTest, AReadOnlyServerIsNotUsed) {
  const std::string name = Database::shared().make_empty_database();
  Connection root = Database::shared().connect(name);
  root.execute(
      "CREATE TABLE t (a INT) ENGINE=InnoDB; CREATE USER plain@localhost;"
      "GRANT ALL ON " +
      name + ".* TO plain@localhost");
  ConnectOptions options = Database::shared().options(name);
  options.user = "plain";
  Connection plain(options);
  root.execute("SET GLOBAL read_only = 1");
  const auto refused = db_error_of([&] { Database::shared().connect(); });
  const std::string writing = error_class_of([&] { plain.execute("INSERT INTO t VALUES (1)"); });
  root.execute("SET GLOBAL read_only = 0; DROP USER plain@localhost");
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->error_class(), ErrorClass::kGone);
  EXPECT_NE(std::string(refused->what()).find("read-only"), std::string::npos);
  EXPECT_EQ(writing, "gone");
}

class LockTest : public testing::Test {
 protected:
  LockTest()
      : name_(Database::shared().make_empty_database()),
        one_(Database::shared().connect(name_)),
        two_(Database::shared().connect(name_)) {
    one_.execute(
        "CREATE TABLE t (id INT PRIMARY KEY, a INT) ENGINE=InnoDB;"
        "INSERT INTO t VALUES (1, 0), (2, 0)");
  }
  static std::uint64_t sum(Connection& db) {
    return support::number_of(db, "SELECT SUM(a) FROM t");
  }

  std::string name_;
  Connection one_;
  Connection two_;
};

constexpr sql::SqlText kBoth{"both",
                             "UPDATE t SET a = 1 WHERE id = 2; UPDATE t SET a = 1 WHERE id = 1"};

TEST_F(LockTest, ALockWaitTimeoutCanBeRepeated) {
  one_.execute("BEGIN; UPDATE t SET a = 5 WHERE id = 1");
  two_.execute("SET SESSION innodb_lock_wait_timeout = 1");
  const std::vector<Statement> both{Statement(kBoth)};
  EXPECT_EQ(error_class_of([&] { two_.transact(both); }), "retryable");
  one_.execute("ROLLBACK");
  EXPECT_EQ(sum(one_), 0U) << "all of the transaction was undone, not its last statement";
  two_.transact(both);
  EXPECT_EQ(sum(one_), 2U);
}

constexpr sql::SqlText kTry{"try",
                            "UPDATE t SET a = 1 WHERE id = 2; SELECT a FROM t WHERE id = 1"
                            " FOR UPDATE NOWAIT; UPDATE t SET a = 1 WHERE id = 1"};

TEST_F(LockTest, ALockedRowIsNotWonAtOnceAndNothingIsWritten) {
  one_.execute("BEGIN; UPDATE t SET a = 5 WHERE id = 1");
  const std::vector<Statement> statements{Statement(kTry)};
  EXPECT_FALSE(two_.try_transact(statements));
  EXPECT_FALSE(two_.in_transaction());
  one_.execute("ROLLBACK");
  EXPECT_EQ(sum(one_), 0U);
  EXPECT_TRUE(two_.try_transact(statements));
  EXPECT_EQ(sum(one_), 2U);
}

TEST_F(LockTest, ALockWaitTimeoutIsNotTakenForALostRace) {
  ConnectOptions options = Database::shared().options(name_);
  options.lock_wait = seconds(1);
  Connection patient(options);
  one_.execute("BEGIN; UPDATE t SET a = 5 WHERE id = 1");
  const std::vector<Statement> both{Statement(kBoth)};
  EXPECT_EQ(error_class_of([&] { (void)patient.try_transact(both); }), "retryable");
}

// The server stops at the statement after COMMIT.
TEST_F(LockTest, AStatementAfterTheTransactionIsNotPartOfIt) {
  constexpr sql::SqlText kRead{"read", "SELECT a FROM t WHERE id = 2"};
  constexpr sql::SqlText kRefused{"refused", "SELECT no_such_column"};
  const std::vector<Statement> both{Statement(kBoth)};
  const Statement read(kRead);
  auto results = two_.transact(both, {&read, &read});
  ASSERT_EQ(results.size(), 3U);
  EXPECT_EQ(results.back().one().u64(0), 1U);
  one_.execute("UPDATE t SET a = 0");
  const Statement refused(kRefused);
  EXPECT_EQ(error_class_of([&] { two_.transact(both, {.after = &refused}); }), "refused");
  EXPECT_EQ(sum(one_), 2U);
}

TEST_F(LockTest, ADeadlockCanBeRepeated) {
  one_.execute("BEGIN; UPDATE t SET a = 5 WHERE id = 1");
  auto outcome = std::async(std::launch::async, [this] {
    const std::vector<Statement> both{Statement(kBoth)};
    return error_class_of([&] { two_.transact(both); });
  });
  Connection watcher = Database::shared().connect();
  ASSERT_TRUE(support::wait_for_lock_waits(watcher, 1));
  // The server picks a victim; the other transaction succeeds.
  const std::string mine = error_class_of([&] { one_.execute("UPDATE t SET a = 5 WHERE id = 2"); });
  if (mine == "none") one_.execute("COMMIT");
  const std::string theirs = outcome.get();
  EXPECT_EQ((mine == "retryable") + (theirs == "retryable"), 1) << mine << " " << theirs;
  EXPECT_EQ((mine == "none") + (theirs == "none"), 1) << mine << " " << theirs;
  one_.execute("UPDATE t SET a = 0");
  two_.transact(std::vector<Statement>{Statement(kBoth)});
  EXPECT_EQ(sum(one_), 2U);
}

}  // namespace
}  // namespace allot::db
