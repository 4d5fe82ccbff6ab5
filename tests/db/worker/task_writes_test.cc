// SPDX-License-Identifier: Apache-2.0
// Writes of a handler in addition to its verdict, with a real database.
#include <filesystem>
#include <fstream>
#include <future>

#include "db/worker/run_fixture.h"
#include "queue/model/compression.h"
#include "queue/model/task_facts.h"
#include "queue/operate/route.h"
#include "support/eventually.h"
#include "support/slot_runs.h"
#include "support/temp_dir.h"
#include "worker/job/task_hooks.h"

namespace allot::worker {
namespace {

using std::chrono::milliseconds;
using support::eventually;
using Result = TaskEnd::Result;

class TaskWritesTest : public RunTest {
 protected:
  TaskWritesTest() : RunTest(ALLOT_WRITES_FOLDER, "writes") {
    config_.max_attempts = 5;
    db_.execute(
        "CREATE TABLE effect (task VARCHAR(32) NOT NULL, note VARCHAR(255) NOT NULL) ENGINE=InnoDB;"
        "CREATE TABLE taken (id INT PRIMARY KEY) ENGINE=InnoDB; INSERT INTO taken VALUES (1), (2)");
  }

  // Runs the task of put_task in its handler.
  Result run_one(const std::string& type, const std::string& payload) {
    put_task(type, payload);
    return run_leased();
  }
  Result run_leased() {
    auto block = lease();
    keeper_.keep(block.lease, boot_ns());
    return run(block, false);
  }
  // Answer of a handler that only fails.
  std::string told_by(const std::string& type, const std::string& payload) {
    EXPECT_EQ(run_one(type, payload), Result::kWritten);
    const std::string told = value("SELECT error FROM task_dead");
    db_.execute("DELETE FROM task_dead; DELETE FROM task_attempt");
    free_leases();
    return told;
  }
  void free_leases() {
    db_.execute("UPDATE q_lock_table SET state = 'FREE', lock_by = NULL WHERE queue_id > 0");
  }
  void steal() {
    db_.execute("UPDATE q_lock_table SET epoch = epoch + 1, lock_by = 7 WHERE queue_id > 0");
  }
  std::string count(const std::string& table) { return value("SELECT COUNT(*) FROM " + table); }
  std::string payload() { return value("SELECT payload FROM task"); }
  // A payload that makes its handler wait, until open_gate().
  std::string gated(const std::string& how) { return how + " " + gate(); }
  std::string gate() { return folder_ / "gate"; }
  void open_gate() { ASSERT_TRUE(std::ofstream(gate()).good()); }
  // The handler waits here; its transaction, if any, is open.
  bool waits() {
    return eventually([&] { return std::filesystem::exists(gate() + ".here"); });
  }
  std::future<Result> run_in_background(const std::string& type, const std::string& payload) {
    put_task(type, payload);
    auto block = lease();  // here: db_ is this thread's
    keeper_.keep(block.lease, boot_ns());
    return std::async(std::launch::async, [this, block]() mutable { return run(block, false); });
  }

  support::TempDir folder_;
};

TEST_F(TaskWritesTest, ACheckpointIsWhatARetryStartsFrom) {
  EXPECT_EQ(run_one("writes.checkpoint", "retry rest"), Result::kWritten);
  EXPECT_EQ(payload(), "kept rest");
  EXPECT_EQ(value("SELECT attempt FROM task"), "1");
  free_leases();
  EXPECT_EQ(run_leased(), Result::kFinished);
}

// The handler saw the decompressed payload; its own checkpoint is stored compressed with it.
TEST_F(TaskWritesTest, ACheckpointKeepsTheCompressionOfItsTask) {
  const std::string rest(3'000, 'r');
  put_task("writes.checkpoint", queue::compress("retry " + rest).value());
  db_.execute("UPDATE task SET flags = " + std::to_string(queue::kZstdFlag));
  EXPECT_EQ(run_leased(), Result::kWritten);
  EXPECT_LT(payload().size(), 100U);
  EXPECT_EQ(queue::decompress(queue::kZstdFlag, payload()), "kept " + rest);
  free_leases();
  EXPECT_EQ(run_leased(), Result::kFinished);
}

TEST_F(TaskWritesTest, ACheckpointStandsWhenTheCallReturns) {
  auto done = run_in_background("writes.checkpoint", gated("wait"));
  EXPECT_TRUE(eventually([&] { return payload().substr(0, 5) == "kept "; })) << "it still runs";
  EXPECT_EQ(value("SELECT attempt FROM task"), "0") << "no attempt is charged by it";
  open_gate();
  EXPECT_EQ(done.get(), Result::kWritten);
}

TEST_F(TaskWritesTest, ACheckpointOfADetachedTaskGoesWithIt) {
  config_.detach_after = milliseconds(1);
  auto done = run_in_background("writes.checkpoint", gated("late"));
  ASSERT_TRUE(eventually([&] { return count("task_running") == "1"; }));
  open_gate();
  EXPECT_EQ(done.get(), Result::kDetached);
  EXPECT_EQ(payload().substr(0, 5), "kept ");
  EXPECT_EQ(count("task_running"), "0");
}

TEST_F(TaskWritesTest, WithoutItsLeaseACheckpointWritesNothing) {
  auto done = run_in_background("writes.checkpoint", gated("late"));
  ASSERT_TRUE(waits());
  steal();
  open_gate();
  EXPECT_EQ(done.get(), Result::kLeaseGone);
  EXPECT_EQ(payload().substr(0, 5), "late ");
  EXPECT_EQ(count("task_attempt"), "0") << "no attempt is charged";
}

TEST_F(TaskWritesTest, ADetachedTaskThatWasRecoveredTakesNoCheckpoint) {
  config_.detach_after = milliseconds(1);
  auto done = run_in_background("writes.checkpoint", gated("late"));
  ASSERT_TRUE(eventually([&] { return count("task_running") == "1"; }));
  db_.execute("UPDATE task_running SET epoch = epoch + 1, lock_by = 7 WHERE queue_id > 0");
  open_gate();
  EXPECT_EQ(done.get(), Result::kDetached);
  EXPECT_EQ(value("SELECT payload FROM task_running").substr(0, 5), "late ");
}

TEST_F(TaskWritesTest, AReplacementIsThereWithTheAcknowledgement) {
  const auto id = put_task("writes.replace", "done 3").text();
  EXPECT_EQ(run_leased(), Result::kWritten);
  EXPECT_EQ(value("SELECT GROUP_CONCAT(DISTINCT type, ' ', payload) FROM task"),
            "writes.effect " + id);
  EXPECT_EQ(count("task"), "3");
  EXPECT_EQ(raw_slot_->tasks_done, 1U);
  EXPECT_EQ(raw_slot_->finished_count, 0U) << "nothing is left to be acknowledged";
  EXPECT_EQ(support::runs_in(*raw_slot_), 0U);
}

// A10: it may have been requested long before the end of the handler.
TEST_F(TaskWritesTest, AReplacementFollowsARouteThatIsSetLater) {
  const auto other = queue::ensure_queue(db_, "other", {2});
  auto done = run_in_background("writes.replace", gated("wait 3"));
  ASSERT_TRUE(waits());
  queue::set_route(db_, queue_, queue::pattern_of("writes.effect"), other);
  const Nanos set = boot_ns();
  ASSERT_TRUE(eventually([&] { return boot_ns() - set > queue::Addresses::kKept; }));
  open_gate();
  EXPECT_EQ(done.get(), Result::kWritten);
  EXPECT_EQ(value("SELECT COUNT(*) FROM task WHERE type = 'writes.effect' AND queue_id = " +
                  std::to_string(other.queue_id)),
            "3");
}

TEST_F(TaskWritesTest, AReplacementOfATaskThatWasTriedBeforeTakesItsHistoryAlong) {
  put_task("writes.replace", "done 1");
  auto block = lease();
  ASSERT_EQ(tasks_.retry(db_, queue::fence(block.lease, block.tasks.at(0)), 1, milliseconds(0),
                         {"retry", "x"}),
            queue::Fenced::kWritten);
  free_leases();
  EXPECT_EQ(run_leased(), Result::kWritten);
  EXPECT_EQ(count("task"), "1");
  EXPECT_EQ(count("task_moved"), "0");
  EXPECT_EQ(count("task_attempt"), "0");
}

TEST_F(TaskWritesTest, AHandlerMaySubmitWithAllOptions) {
  queue::ensure_queue(db_, "limited", {8, queue::Placement::kLimited, 1});
  EXPECT_EQ(run_one("writes.options", ""), Result::kWritten);
  const std::string ids = value("SELECT error FROM task_dead");
  EXPECT_EQ(ids.substr(0, ids.find(' ')), ids.substr(ids.find(' ') + 1)) << "of its unique key";
  EXPECT_EQ(value("SELECT CONCAT_WS('|', partition_no = CRC32('k') % 8, prio, flags,"
                  " run_key >> 12 > TIMESTAMPDIFF(MICROSECOND, '2025-01-01', UTC_TIMESTAMP(6)),"
                  " expires_at > UTC_TIMESTAMP(6) + INTERVAL 119 MINUTE)"
                  " FROM task WHERE type = 'later'"),
            "1|2|2|1|1");
  EXPECT_EQ(value("SELECT CONCAT_WS('|', unique_key, unique_for_us) FROM task_unique"), "u|0");
  EXPECT_EQ(value("SELECT headers FROM task WHERE type = 'later'"), "max_attempts=4");
}

// Otherwise it is a child of the running task.
TEST_F(TaskWritesTest, ASubmissionMayHaveATraceOfItsOwn) {
  const std::string mine = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  const std::string other = "00-ffffffffffffffffffffffffffffffff-ffffffffffffffff-00";
  queue::ensure_queue(db_, "limited", {8, queue::Placement::kLimited, 1});
  for (const std::string& given : {other, std::string("nonsense")}) {
    db_.execute("DELETE FROM task; DELETE FROM task_unique");
    put_task("writes.options", given);
    db_.execute("UPDATE task SET headers = 'traceparent=" + mine + "'");
    EXPECT_EQ(run_leased(), Result::kWritten);
    free_leases();
    const std::string got = value("SELECT headers FROM task WHERE type = 'later'");
    const std::string begin = "max_attempts=4\ntraceparent=";
    const std::string wanted = begin + (given == other ? other : mine.substr(0, 36));
    EXPECT_EQ(got.substr(0, wanted.size()), wanted) << given;
    EXPECT_EQ(got.size(), begin.size() + mine.size());
    EXPECT_EQ(got.find(mine), std::string::npos) << "a child has another parent";
  }
}

TEST_F(TaskWritesTest, WithoutSuccessNothingIsReplaced) {
  EXPECT_EQ(run_one("writes.replace", "retry 3"), Result::kWritten);
  EXPECT_EQ(count("task"), "1");
  EXPECT_EQ(value("SELECT type FROM task"), "writes.replace");
}

TEST_F(TaskWritesTest, WithoutItsLeaseNothingIsReplaced) {
  auto done = run_in_background("writes.replace", gated("wait 3"));
  ASSERT_TRUE(waits());
  steal();
  open_gate();
  EXPECT_EQ(done.get(), Result::kLeaseGone);
  EXPECT_EQ(count("task"), "1");
  EXPECT_EQ(value("SELECT type FROM task"), "writes.replace");
}

TEST_F(TaskWritesTest, ADetachedTaskIsReplacedToo) {
  config_.detach_after = milliseconds(1);
  auto done = run_in_background("writes.replace", gated("wait 2"));
  ASSERT_TRUE(eventually([&] { return count("task_running") == "1"; }));
  open_gate();
  EXPECT_EQ(done.get(), Result::kDetached);
  EXPECT_EQ(count("task_running"), "0");
  EXPECT_EQ(count("task"), "2");
}

// Only the reply was lost, not the transaction.
TEST_F(TaskWritesTest, AReplacementThatIsSentAgainIsOne) {
  const auto id = put_task("t");
  auto block = lease();
  const queue::Task task = block.tasks.at(0);
  const std::vector<queue::Submission> next(5, queue::Submission{queue_, "next", "x"});
  const queue::FencedAck ending(queue::fence(block.lease, task), task);
  EXPECT_EQ(ending.replace(db_, next), queue::Fenced::kWritten);
  EXPECT_EQ(ending.replace(db_, next), queue::Fenced::kWritten);
  EXPECT_EQ(count("task"), "5");
  EXPECT_FALSE(queue::show(db_, id));
  steal();
  EXPECT_EQ(ending.replace(db_, next), queue::Fenced::kLost);
  EXPECT_EQ(count("task"), "5");
}

TEST_F(TaskWritesTest, AnEffectStandsWithTheAcknowledgement) {
  const auto id = put_task("writes.effect", "child").text();
  EXPECT_EQ(run_leased(), Result::kWritten);
  EXPECT_EQ(value("SELECT CONCAT(task, ' ', note) FROM effect"), id + " child");
  EXPECT_EQ(payload(), "of " + id) << "the replacement is in the same transaction";
  EXPECT_EQ(count("task"), "1");
  EXPECT_EQ(raw_slot_->tasks_done, 1U);
  EXPECT_EQ(raw_slot_->finished_count, 0U);
}

TEST_F(TaskWritesTest, WithoutSuccessNothingIsWritten) {
  for (const char* how : {"retry", "throw", "fail"}) {
    EXPECT_EQ(run_one("writes.effect", how), Result::kWritten) << how;
    EXPECT_EQ(count("effect"), "0") << how;
    EXPECT_EQ(session_.call([](db::Connection& db) { return db.in_transaction(); }), false) << how;
    db_.execute("TRUNCATE task; TRUNCATE task_dead; TRUNCATE task_attempt; TRUNCATE task_moved");
    free_leases();
  }
}

// S6
TEST_F(TaskWritesTest, WithoutItsLeaseNothingIsWritten) {
  auto done = run_in_background("writes.effect", gated("wait"));
  ASSERT_TRUE(waits());
  steal();
  open_gate();
  EXPECT_EQ(done.get(), Result::kLeaseGone);
  EXPECT_EQ(count("effect"), "0");
  EXPECT_EQ(count("task"), "1");
  EXPECT_EQ(raw_slot_->tasks_done, 0U);
}

// S6: while the handler's transaction is open, the lease's row is free for its renewals.
TEST_F(TaskWritesTest, AnOpenTransactionDoesNotHoldTheLeasesRow) {
  auto done = run_in_background("writes.effect", gated("wait"));
  ASSERT_TRUE(waits());
  db_.execute("SET innodb_lock_wait_timeout = 1");
  EXPECT_NO_THROW(
      db_.execute("UPDATE q_lock_table SET state = 'EXTENDED' WHERE queue_id > 0 AND"
                  " state <> 'FREE'"));
  open_gate();
  EXPECT_EQ(done.get(), Result::kWritten);
  EXPECT_EQ(count("effect"), "1");
}

TEST_F(TaskWritesTest, ADetachedTaskHasItsEffectToo) {
  config_.detach_after = milliseconds(1);
  auto done = run_in_background("writes.effect", gated("wait"));
  ASSERT_TRUE(eventually([&] { return count("task_running") == "1"; }));
  open_gate();
  EXPECT_EQ(done.get(), Result::kDetached);
  EXPECT_EQ(count("effect"), "1");
  EXPECT_EQ(count("task_running"), "0");
}

TEST_F(TaskWritesTest, ADetachedTaskThatWasRecoveredHasNoEffect) {
  config_.detach_after = milliseconds(1);
  auto done = run_in_background("writes.effect", gated("wait"));
  ASSERT_TRUE(eventually([&] { return count("task_running") == "1"; }));
  db_.execute("UPDATE task_running SET epoch = epoch + 1, lock_by = 7 WHERE queue_id > 0");
  open_gate();
  EXPECT_EQ(done.get(), Result::kDetached);
  EXPECT_EQ(count("effect"), "0");
  EXPECT_EQ(count("task_running"), "1");
}

// The connection, and with it the transaction, is lost: nothing is charged, and the task runs
// again.
TEST_F(TaskWritesTest, ALostConnectionUndoesTheEffectAndChargesNothing) {
  auto done = run_in_background("writes.effect", gated("wait"));
  ASSERT_TRUE(waits());
  db_.execute("KILL " + std::to_string(raw_slot_->connection_ids[0].load()));
  open_gate();
  EXPECT_EQ(done.get(), Result::kLeaseGone) << "the block ends";
  EXPECT_EQ(count("effect"), "0");
  EXPECT_EQ(task(), "7 0 -");
  EXPECT_EQ(count("task_attempt"), "0");
  free_leases();
  EXPECT_EQ(run_leased(), Result::kWritten);
  EXPECT_EQ(count("effect"), "1");
}

// The queue named by a handler may be gone at its end.
TEST_F(TaskWritesTest, RefusedSubmissionIsRolledBack) {
  for (const char* type : {"writes.effect", "writes.replace"}) {
    const bool effect = std::string(type) == "writes.effect";
    auto done = run_in_background(type, gated(effect ? "child" : "wait 3"));
    ASSERT_TRUE(waits());
    const Nanos named = boot_ns();
    db_.execute("UPDATE queue SET name = 'gone' WHERE name = 'q'");
    ASSERT_TRUE(eventually([&] { return boot_ns() - named > queue::Addresses::kKept; }));
    open_gate();
    EXPECT_EQ(done.get(), Result::kWritten) << type;
    EXPECT_FALSE(session_.call([](db::Connection& db) { return db.in_transaction(); })) << type;
    EXPECT_EQ(count("effect"), "0") << type;
    EXPECT_EQ(value("SELECT GROUP_CONCAT(type) FROM task"), type);
    EXPECT_EQ(
        value("SELECT error FROM task_attempt"),
        "nothing was written: queue 'q' does not exist; the daemon creates it at its start from "
        "a section [queues.\"NAME\"]");
    db_.execute(
        "TRUNCATE task; TRUNCATE task_attempt; TRUNCATE task_moved;"
        "UPDATE queue SET name = 'q' WHERE name = 'gone'");
    free_leases();
    std::filesystem::remove(gate());
    std::filesystem::remove(gate() + ".here");
  }
}

// COMMIT was executed, and its reply was lost.
TEST_F(TaskWritesTest, AnEndIsKnownByTheTaskThatIsGone) {
  put_task("t");
  auto block = lease();
  const queue::FencedAck ending(queue::fence(block.lease, block.tasks.at(0)), block.tasks.at(0));
  EXPECT_FALSE(ending.landed(db_));
  db_.begin();
  EXPECT_EQ(ending.commit(db_, {}), queue::Fenced::kWritten);
  EXPECT_TRUE(ending.landed(db_));
}

TEST_F(TaskWritesTest, AStatementThatWasRefusedCostsOnlyItself) {
  EXPECT_EQ(run_one("writes.careless", "INSERT INTO taken VALUES (1)"), Result::kWritten);
  EXPECT_EQ(value("SELECT note FROM effect"), "before");
  EXPECT_EQ(count("task"), "0");
}

// A deadlock or a lock wait timeout undoes the transaction; a success that hides it does not count.
TEST_F(TaskWritesTest, ALostTransactionIsNotASuccess) {
  session_.call([](db::Connection& db) { return db.execute("SET innodb_lock_wait_timeout = 1"); });
  db::Connection other(options());
  other.execute("BEGIN; UPDATE taken SET id = 3 WHERE id = 1");
  EXPECT_EQ(run_one("writes.careless", "DELETE FROM taken WHERE id = 1"), Result::kWritten);
  EXPECT_EQ(count("effect"), "0");
  EXPECT_EQ(value("SELECT CONCAT(attempt, ' ', cause) FROM task_attempt"), "1 exception");
  EXPECT_NE(value("SELECT error FROM task_attempt").find("transaction was lost"),
            std::string::npos);
  EXPECT_EQ(raw_slot_->lock_waits, 1U);
}

TEST_F(TaskWritesTest, AStatementThatEndsTheTransactionIsNotASuccess) {
  db_.execute("CREATE PROCEDURE sly() BEGIN COMMIT; END");
  EXPECT_EQ(run_one("writes.careless", "CALL sly()"), Result::kWritten);
  EXPECT_EQ(value("SELECT error FROM task_attempt"),
            "a statement of the handler ended its transaction");
}

TEST_F(TaskWritesTest, ValuesAreNoText) {
  EXPECT_EQ(told_by("writes.values", ""),
            "NULL|-5|18446744073709551615|2.5|it's \"\\ ?|1||6100FF27225C|" + std::string(30, 'x') +
                "|100000");
}

TEST_F(TaskWritesTest, RowsAndCountsAreReturned) {
  EXPECT_EQ(told_by("writes.sql", "SELECT id, NULL FROM taken ORDER BY id"),
            "affected 0 [1] [NULL] [2] [NULL]");
  EXPECT_EQ(told_by("writes.sql", "UPDATE taken SET id = id + 10"), "affected 2")
      << "the handler's tables are its own: no sql_safe_updates";
  EXPECT_EQ(told_by("writes.sql", "INSERT INTO taken VALUES (2)").substr(0, 7), "3 1062 ");
  EXPECT_EQ(told_by("writes.sql", "DROP TABLE taken").substr(0, 4), "2 0 ");
  EXPECT_EQ(count("taken"), "2");
  db_.execute("SET sql_safe_updates = 1");
  EXPECT_THROW(session_.call_while(
                   [] { return false; },
                   [](db::Connection& db) { return db.execute("UPDATE taken SET id = id + 10"); }),
               db::DbError)
      << "and Allot's are not";
}

TEST_F(TaskWritesTest, RefusedCallIsReportedAndChangesNothing) {
  const std::string told = told_by("writes.mixed", "");
  for (const char* words :
       {"2 checkpoint: not allowed while a transaction is open",
        "2 submit: not allowed while a transaction is open", "2 type 'a/b': 1 to 127",
        "2 queue 'nowhere' does not exist; the daemon creates it", "2 prio 4: 0 (first) to 3",
        "2 a statement of a handler begins with SELECT",
        "2 the statement has 1 '?' placeholders, but 0 values", "3 a handler's statement: "}) {
    EXPECT_NE(told.find(words), std::string::npos) << words << " in " << told;
  }
  EXPECT_EQ(count("effect"), "0");
}

TEST_F(TaskWritesTest, ASubmissionIsOneAtOnce) {
  const std::string id = told_by("writes.submit", "other");
  EXPECT_EQ(value("SELECT CONCAT(type, ' ', payload) FROM task"), "other child");
  const auto task = queue::TaskId::parse(id);
  ASSERT_TRUE(task) << id;
  EXPECT_EQ(queue::show(db_, *task)->type, "other");
  db_.execute("TRUNCATE task");
  EXPECT_EQ(told_by("writes.submit", "a/b").substr(0, 14), "2 type 'a/b': ");
}

}  // namespace
}  // namespace allot::worker
