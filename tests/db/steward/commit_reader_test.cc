// SPDX-License-Identifier: Apache-2.0
// Every commit wakes workers through the server's binary log.
// Rule: S76.
#include "steward/commit_reader.h"

#include <gtest/gtest.h>

#include "ipc/board.h"
#include "peer/doorbell.h"
#include "process/session.h"
#include "support/database.h"
#include "support/eventually.h"

namespace allot::steward {
namespace {

using std::chrono::milliseconds;
using support::Database;
using support::eventually;

constexpr std::uint32_t kQueue = 7;

Database& server_with_log() {
  static Database server({"--log-bin=log", "--binlog-format=ROW", "--server-id=1"});
  return server;
}

class CommitReaderTest : public ::testing::Test {
 protected:
  CommitReaderTest()
      : server_(server_with_log()),
        database_(server_.make_database()),
        db_(server_.connect(database_)),
        session_(server_.options(database_), slot_, milliseconds(500)) {
    const std::uint32_t ids[] = {kQueue};
    peer::serve(pool(), ids);
  }

  ipc::PoolBoard& pool() { return board_->pools[0]; }
  void sleepers(std::uint32_t count) { pool().bell.waiters.store(count); }
  [[nodiscard]] std::uint32_t rings() { return pool().bell.rings.load(); }

  void begin() {
    reader_.emplace(session_, *board_, server_.options(), database_);
    (void)reader_->chore().run_once(true);
  }
  // Connection of the reader at the server; 0: none.
  std::uint64_t stream_id() {
    return support::number_of(db_,
                              "SELECT COALESCE(MAX(ID), 0) FROM information_schema.PROCESSLIST"
                              " WHERE COMMAND LIKE 'Binlog Dump%'");
  }
  // MySQL has the statement under another name.
  std::uint32_t replica_id() {
    const bool mysql = support::number_of(db_, "SELECT VERSION() NOT LIKE '%Maria%'") != 0;
    auto replicas = db_.execute(mysql ? "SHOW REPLICAS" : "SHOW REPLICA HOSTS");
    return static_cast<std::uint32_t>(replicas.front().next()->u64(0));
  }
  // Waits until the rings of the start are over.
  [[nodiscard]] bool follows() {
    if (!eventually([this] { return stream_id() != 0; })) return false;
    return rings_after([] {});
  }
  // True if `act` is followed by exactly one ring.
  template <typename Act>
  bool rings_after(Act&& act) {
    const std::uint32_t before = seen_;
    act();
    const bool rung = eventually([&] { return rings() != before; });
    seen_ = rings();
    return rung;
  }
  void put_task(db::Connection& db) { put_tasks(db, {task()}); }
  static void put_tasks(db::Connection& db, const std::vector<std::string>& rows) {
    std::string values;
    for (const std::string& row : rows) values += (values.empty() ? "" : ", ") + row;
    db.execute(
        "INSERT INTO task (queue_id, partition_no, run_key, expires_at, type, payload) VALUES " +
        values);
  }
  // A row that is due `seconds` from now.
  std::string task(std::uint32_t queue = kQueue, int seconds = 0) {
    const unsigned at = ++partition_;
    return "(" + std::to_string(queue) + ", " + std::to_string(at) +
           ", TIMESTAMPDIFF(MICROSECOND, '2025-01-01', UTC_TIMESTAMP(6) + INTERVAL " +
           std::to_string(seconds) + " SECOND) << 12, " +
           (at % 2 == 0 ? "NULL" : "UTC_TIMESTAMP(6)") + ", 't', REPEAT('x', " +
           std::to_string(at * 500) + "))";
  }

  Database& server_;
  const std::string database_;
  db::Connection db_;
  std::unique_ptr<ipc::Board> board_ = std::make_unique<ipc::Board>();
  std::unique_ptr<ipc::Slot> raw_slot_ = std::make_unique<ipc::Slot>();
  process::SlotWriter slot_{*raw_slot_, -1};
  process::Session session_;
  unsigned partition_ = 0;
  std::uint32_t seen_ = 0;
  std::optional<CommitReader> reader_;
};

TEST_F(CommitReaderTest, ACommitInPlainSqlRings) {
  sleepers(1);
  begin();
  ASSERT_TRUE(follows());
  EXPECT_TRUE(rings_after([this] {
    db_.begin();
    put_task(db_);
    db_.execute("COMMIT");
  }));
  EXPECT_EQ(pool().next_scout_ns.load(), peer::kAnnounced) << "it may be visible a moment later";
}

TEST_F(CommitReaderTest, OnlyTheTasksOfThisDatabaseRing) {
  auto other = server_.connect(server_.make_database());
  sleepers(1);
  begin();
  ASSERT_TRUE(follows());
  const std::uint32_t before = rings();
  put_task(other);
  db_.execute("CREATE TABLE orders (id INT PRIMARY KEY); INSERT INTO orders VALUES (1)");
  EXPECT_TRUE(rings_after([this] { put_task(db_); }));
  EXPECT_EQ(rings(), before + 1) << "the log has the others before this one";
}

// Decided by the rows in the log: rows of other queues and rows that are due later do not wake
// workers.
TEST_F(CommitReaderTest, OnlyTasksThatMayStartHereRing) {
  sleepers(1);
  begin();
  ASSERT_TRUE(follows());
  const std::uint32_t before = rings();
  put_tasks(db_, {task(kQueue + 1), task(kQueue, 60), task(kQueue + 2)});
  put_tasks(db_, {task(kQueue, 60)});
  EXPECT_TRUE(rings_after([this] {
    put_tasks(db_, {task(kQueue + 1), task(kQueue, 60), task(), task(kQueue + 1)});
  }));
  EXPECT_EQ(rings(), before + 1);
}

// A delayed task is called forward: by an operator in SQL, or by a lease.
TEST_F(CommitReaderTest, AnUpdateThatMakesATaskDueRings) {
  const auto move_all = [this](const std::string& to) {
    db_.execute("UPDATE task SET run_key = " + to + " WHERE queue_id = " + std::to_string(kQueue));
  };
  const std::string now = "TIMESTAMPDIFF(MICROSECOND, '2025-01-01', UTC_TIMESTAMP(6)) << 12";
  sleepers(1);
  begin();
  ASSERT_TRUE(follows());
  for (const char* image : {"FULL", "MINIMAL", "NOBLOB"}) {
    db_.execute(std::string("SET binlog_row_image = ") + image);
    put_tasks(db_, {task(kQueue, 600)});
    const std::uint32_t before = rings();
    db_.execute("UPDATE task SET attempt = 1");
    move_all("run_key - (1000000 << 12)");  // it is still not due
    EXPECT_TRUE(rings_after([&] { move_all(now); })) << image;
    move_all("run_key - 1");  // it was due before
    EXPECT_TRUE(rings_after([this] { put_task(db_); })) << image;
    EXPECT_EQ(rings(), before + 2) << image;
    db_.execute("DELETE FROM task");
  }
}

TEST_F(CommitReaderTest, NothingIsReadWhileNoWorkerSleeps) {
  begin();
  sleepers(1);
  ASSERT_TRUE(follows());
  sleepers(0);
  EXPECT_TRUE(eventually([this] { return stream_id() == 0; }));
  sleepers(1);
  EXPECT_TRUE(follows()) << "what was committed before is rung for";
  EXPECT_TRUE(rings_after([this] { put_task(db_); }));
}

TEST_F(CommitReaderTest, AKilledStreamBeginsAgain) {
  sleepers(1);
  begin();
  ASSERT_TRUE(follows());
  const std::uint64_t killed = stream_id();
  EXPECT_TRUE(rings_after([&] { db_.execute("KILL " + std::to_string(killed)); }));
  ASSERT_TRUE(eventually([&] { return stream_id() > killed; }));
  EXPECT_TRUE(follows());
  EXPECT_TRUE(rings_after([this] { put_task(db_); }));
}

// The server ends a stream when another replica connects with its id. The next stream uses another
// one.
TEST_F(CommitReaderTest, AnIdThatAnotherReplicaTakesIsGivenUp) {
  sleepers(1);
  begin();
  ASSERT_TRUE(follows());
  const std::uint64_t former = stream_id();
  {
    const db::BinlogStream thief(server_.options(), "any", replica_id());
    ASSERT_TRUE(eventually([&] { return stream_id() > former; }));
  }
  ASSERT_TRUE(eventually([&] { return rings() > seen_; })) << "for what it may have missed";
  EXPECT_TRUE(follows());
  EXPECT_TRUE(rings_after([this] { put_task(db_); }));
}

// Like a compressed transaction of MySQL. MariaDB compresses single events, which it knows.
TEST_F(CommitReaderTest, AnEventThatTheConnectorDoesNotKnowWakesAllTheSame) {
  sleepers(1);
  begin();
  ASSERT_TRUE(follows());
  db_.execute(
      "SET @compressed = 1 /*M!100204 , GLOBAL log_bin_compress = 1 */"
      " /*!80020 , SESSION binlog_transaction_compression = 1 */");
  EXPECT_TRUE(rings_after([this] { put_task(db_); }));
  EXPECT_TRUE(rings_after([this] { put_task(db_); })) << "also after the error";
  db_.execute("SET @compressed = 0 /*M!100204 , GLOBAL log_bin_compress = 0 */");
}

TEST_F(CommitReaderTest, ARotatedAndPurgedLogIsFollowed) {
  sleepers(1);
  begin();
  ASSERT_TRUE(follows());
  db_.execute("FLUSH BINARY LOGS; FLUSH BINARY LOGS");
  EXPECT_TRUE(rings_after([this] { put_task(db_); }));
  db_.execute("PURGE BINARY LOGS BEFORE UTC_TIMESTAMP() + INTERVAL 1 DAY");
  EXPECT_TRUE(rings_after([this] { put_task(db_); }));
}

// The steward's session has lost its connection.
TEST_F(CommitReaderTest, AnotherServerMayBeTheWriter) {
  sleepers(1);
  begin();
  ASSERT_TRUE(follows());
  const std::uint64_t former = stream_id();
  session_.give_up_connection();
  EXPECT_TRUE(eventually([&] {
    (void)reader_->chore().run_once(true);
    return stream_id() > former;
  }));
}

// It ends while the server is silent.
TEST_F(CommitReaderTest, EndsAtOnce) {
  sleepers(1);
  begin();
  ASSERT_TRUE(follows());
  Database::Stall stall(server_);
  const Nanos began = boot_ns();
  reader_.reset();
  EXPECT_LT(boot_ns() - began, kSecond);
}

}  // namespace
}  // namespace allot::steward
