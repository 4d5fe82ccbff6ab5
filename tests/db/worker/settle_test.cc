// SPDX-License-Identifier: Apache-2.0
// Rule: S9.
#include <csignal>
#include <cstring>
#include <future>

#include "base/clock.h"
#include "db/worker/settle_fixture.h"
#include "queue/verbs/detached_store.h"
#include "worker/lease/hints.h"

namespace allot::worker {
namespace {

TEST_F(SettleTest, ChargesTheRunningTaskAndAcknowledgesTheFinished) {
  for (std::uint64_t key = 1; key <= 4; ++key) put(partition(0), {1, key});
  const auto block = lease(0);
  slot_.add_finished(queue::finished(block.tasks[0]));
  slot_.add_finished(queue::finished(block.tasks[1]));
  begin_run(slot_, block.tasks[2], 1, 10, 0, 0);
  settle_it();
  EXPECT_EQ(value("SELECT GROUP_CONCAT(run_key, ':', attempt ORDER BY run_key) FROM task"),
            "3:1,4:0")
      << "the first crash is retried in place, and neighbours are not charged";
  EXPECT_EQ(value("SELECT CONCAT(first_key, ' ', attempt, ' ', cause) FROM task_attempt"),
            "3 1 signal");
  EXPECT_EQ(state(0), "FREE");
}

TEST_F(SettleTest, TwiceHasTheEffectOfOnce) {
  put(partition(0), {1, 1});
  const auto block = lease(0);
  begin_run(slot_, block.tasks[0], 1, 10, 0, 0);
  settle_it();
  settle_it();
  EXPECT_EQ(value("SELECT attempt FROM task"), "1");
}

// A late packet of the dead worker may lease the partition once more, after others had it.
TEST_F(SettleTest, ChargeByAnotherWorkerIsKept) {
  for (const std::uint32_t most : {10U, 1U}) {
    for (const char* before : {"signal", "retry"}) {
      SCOPED_TRACE(before + std::to_string(most));
      db_.execute(
          "DELETE FROM task; DELETE FROM task_moved; DELETE FROM task_attempt;"
          "DELETE FROM task_dead");
      put(partition(0), {1, 1});
      charged_before(before);
      const auto block = lease(0);
      begin_run(slot_, block.tasks[0], most == 1 ? 1 : 2, most, 0, 0);
      db_.execute("UPDATE task SET attempt = 4");
      settle_it();
      end_run(slot_);
      EXPECT_EQ(value("SELECT attempt FROM task UNION ALL SELECT attempt FROM task_dead"), "4");
    }
  }
}

// B11: its end was requested, and it does not matter whether that killed it.
TEST_F(SettleTest, ATaskWhoseEndWasAskedForIsNotTriedAgain) {
  const std::string ask =
      "INSERT INTO task_cancel SELECT queue_id, partition_no, prio, first_key, 'the user left',"
      " UTC_TIMESTAMP(6), 0 FROM ";
  for (const bool detached : {false, true}) {
    SCOPED_TRACE(detached);
    if (detached) {
      detach(1, 10);
      db_.execute(ask + "task_running");
    } else {
      put(partition(0), {1, 1});
      const auto block = lease(0);
      begin_run(slot_, block.tasks[0], 1, 10, 0, 0);
      db_.execute("UPDATE task SET flags = 64, first_key = run_key WHERE queue_id > 0;" + ask +
                  "task");
    }
    settle_it();
    EXPECT_EQ(value("SELECT GROUP_CONCAT(first_key, ' ', cause, ' ', error) FROM task_dead"),
              "1 cancelled the user left");
    EXPECT_EQ(value("SELECT CONCAT(attempt, ' ', cause) FROM task_attempt"), "1 cancelled");
    EXPECT_EQ(value("SELECT COUNT(*) FROM task WHERE run_key = 1"), "0");
    EXPECT_EQ(value("SELECT (SELECT COUNT(*) FROM task_running) + COUNT(*) FROM task_cancel"), "0");
    EXPECT_EQ(state(0), "FREE");
    end_run(slot_);
    db_.execute(
        "SET SESSION sql_safe_updates = 0; DELETE FROM task_dead; DELETE FROM task_attempt");
  }
}

// S7: the attempt is recorded first, and its worker dies before the handler is called.
TEST_F(SettleTest, AnAnnouncedAttemptThatDidNotStartIsRefunded) {
  put(partition(0), {1, 1});
  charged_before("signal");
  const auto block = lease(0);
  announce_run(slot_, block.tasks[0], 2);
  ASSERT_EQ(tasks_.announce(db_, queue::fence(block.lease, block.tasks[0]), 2),
            queue::Fenced::kWritten);
  settle_it();
  EXPECT_EQ(value("SELECT CONCAT(run_key, ' ', attempt) FROM task"), "1 1");
  EXPECT_EQ(value("SELECT GROUP_CONCAT(attempt, ' ', cause) FROM task_attempt"), "1 signal");
  EXPECT_EQ(state(0), "FREE");
}

TEST_F(SettleTest, AnAnnouncedAttemptThatStartedIsCharged) {
  put(partition(0), {1, 1});
  const auto block = lease(0);
  announce_run(slot_, block.tasks[0], 1);
  ASSERT_EQ(tasks_.announce(db_, queue::fence(block.lease, block.tasks[0]), 1),
            queue::Fenced::kWritten);
  begin_run(slot_, block.tasks[0], 1, 10, 0, 0);
  settle_it();
  EXPECT_EQ(value("SELECT attempt FROM task"), "1");
  EXPECT_EQ(value("SELECT cause FROM task_attempt"), "signal");
}

TEST_F(SettleTest, UnwrittenAttemptIsNotTakenBack) {
  put(partition(0), {1, 1});
  charged_before("signal");
  const auto block = lease(0);
  announce_run(slot_, block.tasks[0], 2);
  settle_it();
  EXPECT_EQ(value("SELECT attempt FROM task"), "1");
  EXPECT_EQ(value("SELECT COUNT(*) FROM task_attempt"), "1");
}

TEST_F(SettleTest, AnAnnouncementOfAnotherLeaseIsOthersToJudge) {
  put(partition(0), {1, 1});
  const auto block = lease(0);
  announce_run(slot_, block.tasks[0], 1);
  ASSERT_EQ(tasks_.announce(db_, queue::fence(block.lease, block.tasks[0]), 1),
            queue::Fenced::kWritten);
  db_.execute("UPDATE q_lock_table SET epoch = epoch + 5 WHERE partition_no = 0");
  settle_it();
  EXPECT_EQ(value("SELECT attempt FROM task"), "1");
  EXPECT_EQ(value("SELECT cause FROM task_attempt"), "lost");
  EXPECT_EQ(state(0), "FREE");
}

// The slot served a former worker, which announced a task; this one has not reached its first task.
TEST_F(SettleTest, AttemptAnnouncedByAFormerWorkerIsKept) {
  put(partition(0), {1, 1});
  const auto former = lease(0);
  announce_run(slot_, former.tasks[0], 1);
  ASSERT_EQ(tasks_.announce(db_, queue::fence(former.lease, former.tasks[0]), 1),
            queue::Fenced::kWritten);
  ASSERT_TRUE(leases_.release(db_, former.lease));
  slot_.start(leases_.holder());
  lease(0);
  settle_it();
  EXPECT_EQ(value("SELECT attempt FROM task"), "1");
  EXPECT_EQ(value("SELECT cause FROM task_attempt"), "lost");
  EXPECT_EQ(state(0), "FREE");
}

// S10. An earlier attempt without a crash does not count as one.
TEST_F(SettleTest, TheFirstCrashIsRetriedAtOnceWhicheverAttemptItIs) {
  put(partition(0), {1, 1});
  charged_before("retry");
  const auto block = lease(0);
  begin_run(slot_, block.tasks[0], 2, 10, 0, 0);
  settle_it();
  EXPECT_EQ(value("SELECT CONCAT(run_key, ' ', attempt) FROM task"), "1 2");
}

TEST_F(SettleTest, AnEarlierCrashWasOneWhateverItIsCalled) {
  for (const char* cause : {"signal", "exit", "timeout", "lease", "lost"}) {
    db_.execute("DELETE FROM task; DELETE FROM task_moved; DELETE FROM task_attempt");
    put(partition(0), {1, 1});
    charged_before(cause);
    const auto block = lease(0);
    begin_run(slot_, block.tasks[0], 2, 10, 0, 0);
    settle_it();
    EXPECT_EQ(value("SELECT CONCAT(run_key > 1, ' ', attempt) FROM task"), "1 2") << cause;
    end_run(slot_);
  }
}

TEST_F(SettleTest, ALaterCrashWaitsByThePolicyAndTheLastOneBuries) {
  put(partition(0), {1, 1});
  charged_before("signal");
  auto block = lease(0);
  begin_run(slot_, block.tasks[0], 2, 3, 0, 0);
  settle_it();
  EXPECT_EQ(value("SELECT CONCAT(attempt, ' ', first_key, ' ', run_key > 1) FROM task"), "2 1 1");
  end_run(slot_);
  db_.execute("UPDATE task SET run_key = 2, first_key = 1");  // its time has come
  db_.execute("UPDATE task_moved SET run_key = 2");
  block = lease(0);
  begin_run(slot_, block.tasks.at(0), 3, 3, 0, 0);
  settle_it();
  EXPECT_EQ(value("SELECT COUNT(*) FROM task"), "0");
  EXPECT_EQ(value("SELECT CONCAT(first_key, ' ', attempt, ' ', cause) FROM task_dead"),
            "1 3 signal");
  EXPECT_EQ(value("SELECT COUNT(*) FROM task_moved"), "0");
}

// S10: whatever is recorded of an earlier crash, this is a later one. If losses are counted
// separately, a crash is not one of its attempts with a verdict.
TEST_F(SettleTest, LossesThatCountApartHaveTheirOwnLimit) {
  for (const std::uint32_t verdicts : {0U, 2U}) {
    SCOPED_TRACE(verdicts);
    db_.execute(
        "DELETE FROM task; DELETE FROM task_moved; DELETE FROM task_attempt;"
        "DELETE FROM task_dead");
    put(partition(0), {1, 1});
    db_.execute("UPDATE task SET attempt = " + std::to_string(verdicts) +
                ", headers = 'max_losses=3\nverdicts=" + std::to_string(verdicts) + "'");
    for (std::uint32_t lost = 1; lost <= 4; ++lost) {
      db_.execute("UPDATE task SET run_key = 1");
      const auto block = lease(0);
      ASSERT_EQ(block.tasks.size(), 1U);
      begin_run(slot_, block.tasks[0], verdicts + lost, 100, 0, 0);
      settle_it();
      end_run(slot_);
      EXPECT_EQ(value("SELECT attempt FROM task UNION ALL SELECT attempt FROM task_dead"),
                std::to_string(verdicts + lost));
      EXPECT_EQ(value("SELECT COUNT(*) FROM task_dead"), lost == 4 ? "1" : "0") << lost;
    }
    EXPECT_EQ(value("SELECT CONCAT(cause, ' ', headers) FROM task_dead"),
              "signal max_losses=3\nverdicts=" + std::to_string(verdicts));
  }
}

TEST_F(SettleTest, EachCauseOfACrashIsOneForTheNext) {
  for (const char* cause : {"signal", "exit", "timeout", "lease", "frozen", "memory", "lost"}) {
    SCOPED_TRACE(cause);
    db_.execute("DELETE FROM task; DELETE FROM task_moved; DELETE FROM task_attempt");
    put(partition(0), {1, 1});
    charged_before(cause);
    const auto block = lease(0);
    begin_run(slot_, block.tasks.at(0), 2, 3, 0, 0);
    settle_it();
    end_run(slot_);
    EXPECT_EQ(value("SELECT CONCAT(attempt, ' ', run_key > 1) FROM task"), "2 1");
  }
}

TEST_F(SettleTest, ALaterCrashWaitsByThePolicyOfItsType) {
  settings_.types.emplace_back().name = "t";
  settings_.types.back().retry_delays = {std::chrono::hours(20)};
  put(partition(0), {1, 1});
  charged_before("signal");
  const auto block = lease(0);
  begin_run(slot_, block.tasks[0], 2, 3, 0, 0);
  settle_it();
  const std::string hours = value(
      "SELECT ROUND((CAST(run_key >> 12 AS SIGNED) - TIMESTAMPDIFF(MICROSECOND, '2025-01-01',"
      " UTC_TIMESTAMP(6))) / 3600000000) FROM task");
  EXPECT_EQ(hours, "20");
}

TEST_F(SettleTest, ATaskThatFinishedAtTheLastInstructionIsNotCharged) {
  put(partition(0), {1, 1});
  const auto block = lease(0);
  begin_run(slot_, block.tasks[0], 1, 10, 0, 0);
  return_run(slot_, process::RunEvent::kFinish);
  slot_.add_finished(queue::finished(block.tasks[0]));  // and died before its end was noted
  settle_it();
  EXPECT_EQ(value("SELECT COUNT(*) FROM task"), "0");
  EXPECT_EQ(value("SELECT COUNT(*) FROM task_attempt"), "0");
}

TEST_F(SettleTest, FindsALeaseWhoseReplyWasLost) {
  slot_.begin_lease(partition(2), "q", false);
  ASSERT_TRUE(leases_.lease(db_, partition(2), {}).has_value());
  ASSERT_EQ(raw_slot_->epoch, 0U) << "the worker never learnt its epoch";
  settle_it();
  EXPECT_EQ(state(2), "FREE");
}

TEST_F(SettleTest, LeavesTasksThatHaveAnotherHolder) {
  put(partition(0), {1, 1});
  const auto block = lease(0);
  begin_run(slot_, block.tasks[0], 1, 10, 0, 0);
  db_.execute("UPDATE q_lock_table SET epoch = epoch + 1, lock_by = 7 WHERE partition_no = 0");
  settle_it();
  EXPECT_EQ(value("SELECT attempt FROM task"), "0");
  EXPECT_EQ(value("SELECT lock_by FROM q_lock_table WHERE partition_no = 0"), "7");
}

TEST_F(SettleTest, EndsTheConnectionWhoseLastStatementStillRuns) {
  db::Connection dead(options());
  slot_.connected(0, dead, queue::server_uptime(dead));
  slot_.begin_lease(partition(0), "q", false);
  settle_it();
  EXPECT_THROW(dead.execute("SELECT 1"), db::DbError);
}

TEST_F(SettleTest, PutsThePartitionFirstInLine) {
  const auto board = std::make_unique<ipc::Board>();
  put(partition(3), {1, 1});
  lease(3);
  settle_it(kKilled, board.get());
  EXPECT_EQ(take_hint(board->pools[0]), make_hint(queue_.queue_id, 3));
}

TEST_F(SettleTest, SaysWhatTheWorkerDiedOf) {
  put(partition(0), {1, 1});
  const auto block = lease(0);
  begin_run(slot_, block.tasks[0], 1, 10, 0, 1);  // a hard deadline long ago
  settle_it();
  const std::string error = value("SELECT error FROM task_attempt");
  EXPECT_NE(error.find("time limit"), std::string::npos) << error;
  EXPECT_NE(error.find("signal 9"), std::string::npos) << error;
  EXPECT_EQ(value("SELECT cause FROM task_attempt"), "timeout");
}

// The settler may have waited for the database for hours.
TEST_F(SettleTest, TimeOfDeathCounts) {
  put(partition(0), {1, 1});
  const auto block = lease(0);
  const Nanos died = boot_ns() - kSecond;
  raw_slot_->died_ns = died;
  begin_run(slot_, block.tasks[0], 1, 10, 0, died + 1);  // would be over by now
  settle_it();
  EXPECT_EQ(value("SELECT cause FROM task_attempt"), "signal");
}

TEST_F(SettleTest, ABrokenPromiseOfProgressIsATimeout) {
  put(partition(0), {1, 1});
  const auto block = lease(0);
  begin_run(slot_, block.tasks[0], 1, 10, 0, boot_ns() + 60 * kSecond);
  slot_.move_deadline(0, 1, ipc::Limit::kProgress);
  settle_it();
  EXPECT_EQ(value("SELECT CONCAT(cause, ': ', LEFT(error, 52)) FROM task_attempt"),
            "timeout: made no progress for longer than its handler allows;");
}

// B11: also if the request is gone.
TEST_F(SettleTest, ACancelIsNotATimeout) {
  put(partition(0), {1, 1});
  const auto block = lease(0);
  begin_run(slot_, block.tasks[0], 1, 10, 0, boot_ns() + 60 * kSecond);
  slot_.move_deadline(0, 1, ipc::Limit::kCancel);
  settle_it();
  EXPECT_EQ(value("SELECT CONCAT(cause, ': ', LEFT(error, 61)) FROM task_attempt"),
            "cancelled: did not end within cancel_grace of the request to cancel it; ");
}

TEST_F(SettleTest, ADetachedTaskIsChargedWhereItStood) {
  const auto board = std::make_unique<ipc::Board>();
  detach(1, 10);
  settle_it(kKilled, board.get());
  EXPECT_EQ(value("SELECT GROUP_CONCAT(run_key, ':', attempt ORDER BY run_key) FROM task"),
            "1:1,2:0");
  EXPECT_EQ(value("SELECT COUNT(*) FROM task_running"), "0");
  EXPECT_EQ(value("SELECT CONCAT(first_key, ' ', attempt, ' ', cause) FROM task_attempt"),
            "1 1 signal");
  EXPECT_EQ(take_hint(board->pools[0]), make_hint(queue_.queue_id, 0));
  settle_it();
  EXPECT_EQ(value("SELECT MAX(attempt) FROM task"), "1") << "twice has the effect of once";
}

TEST_F(SettleTest, ADetachedTasksLaterCrashWaitsAndTheLastOneBuries) {
  detach(2, 3);
  db_.execute(
      "INSERT INTO task_attempt SELECT queue_id, partition_no, prio, first_key, 0, 1,"
      " UTC_TIMESTAMP(6), 'signal', '', '', 0, NULL, NULL, NULL, NULL, '', '', NULL FROM "
      "task_running");
  settle_it();
  EXPECT_EQ(value("SELECT CONCAT(attempt, ' ', run_key > 1) FROM task WHERE first_key = 1"), "2 1");
  db_.execute("DELETE FROM task");
  end_run(slot_);
  detach(3, 3);
  settle_it();
  EXPECT_EQ(value("SELECT CONCAT(first_key, ' ', attempt, ' ', cause) FROM task_dead"),
            "1 3 signal");
  EXPECT_EQ(value("SELECT COUNT(*) FROM task_running"), "0");
}

TEST_F(SettleTest, ADetachedTaskThatFinishedAtTheLastInstructionIsNotCharged) {
  const queue::Task task = detach(1, 10);
  return_run(slot_, process::RunEvent::kFinish);  // its detach was not noted
  slot_.add_finished(queue::finished(task));
  settle_it();
  EXPECT_EQ(value("SELECT GROUP_CONCAT(run_key, ':', attempt) FROM task"), "2:0");
  EXPECT_EQ(value("SELECT COUNT(*) FROM task_running"), "0");
}

// The worker exited without having been able to write its task's verdict.
TEST_F(SettleTest, ResultOfADetachedTaskIsWrittenForAWorkerThatGaveUp) {
  slot_.add_finished(queue::finished(detach(1, 10)));
  end_run(slot_);
  settle_it();
  EXPECT_EQ(value("SELECT GROUP_CONCAT(run_key, ':', attempt) FROM task"), "2:0");
  EXPECT_EQ(value("SELECT COUNT(*) FROM task_running"), "0");
  EXPECT_EQ(value("SELECT COUNT(*) FROM task_attempt"), "0");
  slot_.clear_finished();
  db_.execute("TRUNCATE task");

  detach(2, 10);
  return_run(slot_, process::RunEvent::kRefund);
  settle_it();
  EXPECT_EQ(value("SELECT GROUP_CONCAT(run_key, ':', attempt ORDER BY run_key) FROM task"),
            "1:1,2:1");
  EXPECT_EQ(value("SELECT COUNT(*) FROM task_running"), "0");
  EXPECT_EQ(value("SELECT COUNT(*) FROM task_attempt"), "0");
}

TEST_F(SettleTest, ADetachedTaskThatWasRecoveredIsLeftAlone) {
  detach(1, 10);
  db_.execute("UPDATE task_running SET epoch = epoch + 1, lock_by = 7");
  settle_it();
  EXPECT_EQ(value("SELECT CONCAT(lock_by, ' ', attempt) FROM task_running"), "7 1");
  EXPECT_EQ(value("SELECT COUNT(*) FROM task_attempt"), "0");
}

// The dead worker's connection could not be ended, and its detach is executed after all.
TEST_F(SettleTest, FindsATaskThatIsDetachedAtTheSameTime) {
  put(partition(0), {1, 1});
  const auto block = lease(0);
  begin_run(slot_, block.tasks[0], 1, 10, 0, 0);
  db::Connection stall(options());
  stall.execute("BEGIN; SELECT * FROM task FOR UPDATE");
  auto late = std::async(std::launch::async, [&] {
    db::Connection own(options());
    return detached_.detach(own, queue::fence(block.lease, block.tasks[0]), 1, {});
  });
  ASSERT_TRUE(support::wait_for_lock_waits(db_, 1));
  auto settled = std::async(std::launch::async, [&] { settle_it(); });
  ASSERT_TRUE(support::wait_for_lock_waits(db_, 2)) << "it has to wait for the lease's row";
  stall.execute("ROLLBACK");
  EXPECT_EQ(late.get(), queue::Fenced::kWritten);
  settled.get();
  EXPECT_EQ(value("SELECT GROUP_CONCAT(run_key, ':', attempt) FROM task"), "1:1");
  EXPECT_EQ(value("SELECT COUNT(*) FROM task_running"), "0");
}

// The supervisor kills only with SIGKILL: any other death has its own cause.
TEST_F(SettleTest, AnotherSignalIsNeverATimeout) {
  put(partition(0), {1, 1});
  const auto block = lease(0);
  begin_run(slot_, block.tasks[0], 1, 10, 0, 1);
  settle_it(SIGSEGV);
  EXPECT_EQ(value("SELECT CONCAT(cause, ': ', error) FROM task_attempt"),
            "signal: worker killed by signal 11 (Segmentation fault) inside the handler");
}

// S5: in an exclusive queue the supervisor ends a handler whose lease is doubtful.
TEST_F(SettleTest, ALeaseInDoubtIsACause) {
  for (const bool exclusive : {false, true}) {
    db_.execute("DELETE FROM task; DELETE FROM task_attempt");
    put(partition(0), {1, 1});
    const auto block = lease(0);
    raw_slot_->exclusive = exclusive ? 1 : 0;
    slot_.lease_deadline(1);  // long ago
    begin_run(slot_, block.tasks[0], 1, 10, 0, 0);
    settle_it();
    EXPECT_EQ(value("SELECT cause FROM task_attempt"), exclusive ? "lease" : "signal");
    end_run(slot_);
  }
}

TEST_F(SettleTest, AnExitIsReportedWithItsStatus) {
  put(partition(0), {1, 1});
  const auto block = lease(0);
  begin_run(slot_, block.tasks[0], 1, 10, 0, 0);
  settle_it(3 << 8);
  EXPECT_EQ(value("SELECT CONCAT(cause, ': ', error) FROM task_attempt"),
            "exit: worker exited with status 3 inside the handler");
}

}  // namespace
}  // namespace allot::worker
