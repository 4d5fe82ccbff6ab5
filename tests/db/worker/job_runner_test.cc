// SPDX-License-Identifier: Apache-2.0
// One task in a real handler, with a real database: the resulting rows.
// Rule: S63.
#include "worker/job/job_runner.h"

#include <future>

#include "db/worker/run_fixture.h"
#include "meter/meter.h"
#include "queue/model/task_facts.h"
#include "support/eventually.h"
#include "support/slot_runs.h"
#include "support/temp_dir.h"

namespace allot::worker {
namespace {

using Result = TaskEnd::Result;

// Delays every statement that does `what` ("BEFORE DELETE ON task"), until release().
class BlockedWrites {
 public:
  BlockedWrites(db::Connection& db, const std::string& what) : db_(db) {
    db_.execute("CREATE TRIGGER held " + what +
                " FOR EACH ROW DO GET_LOCK('hold', 60), RELEASE_LOCK('hold');"
                "DO GET_LOCK('hold', 60)");
  }
  BlockedWrites(const BlockedWrites&) = delete;
  BlockedWrites& operator=(const BlockedWrites&) = delete;
  ~BlockedWrites() {
    release();
    db_.execute("DROP TRIGGER held");
  }

  [[nodiscard]] bool any_held() const {
    return support::eventually([&] {
      return support::value_of(db_,
                               "SELECT COUNT(*) FROM information_schema.processlist"
                               " WHERE state = 'User lock' AND db = DATABASE()") == "1";
    });
  }
  void release() const { db_.execute("DO RELEASE_LOCK('hold')"); }

 private:
  db::Connection& db_;
};

class JobRunnerTest : public RunTest {
 protected:
  JobRunnerTest() : RunTest(ALLOT_PROBE_FOLDER, "probe") {}

  // A task that reports `verdict` after open_gate(verdict).
  queue::TaskId put_gated(const std::string& verdict) {
    return put_task("test.gate", verdict + " " + (folder_ / verdict));
  }
  void open_gate(const std::string& verdict) const { (void)folder_.write(verdict, ""); }
  // Starts put_gated(verdict) and lets it end as soon as it is detached.
  std::future<Result> start_detached(queue::Block& block, const std::string& verdict,
                                     bool careful = false) {
    auto result = std::async(std::launch::async, [=, this, &block] { return run(block, careful); });
    EXPECT_TRUE(
        support::eventually([&] { return value("SELECT COUNT(*) FROM task_running") == "1"; }));
    open_gate(verdict);
    return result;
  }

  const support::TempDir folder_;
};

// A keeper that soon sees that a task is no longer its own.
class ShortLeaseTest : public RunTest {
 protected:
  ShortLeaseTest() : RunTest(ALLOT_PROBE_FOLDER, "probe", std::chrono::milliseconds(1'500)) {}
};

// The database was slow: the attempt is recorded, but by now another worker may have the lease
// (S5). Ten such moments must not bury a task that never ran.
TEST_F(JobRunnerTest, AnAttemptThatCouldNotStartIsRefunded) {
  const auto id = put_task("test.fail");
  auto block = lease();  // not in the keeper: not valid
  ASSERT_FALSE(keeper_.valid());
  EXPECT_EQ(run(block, true), Result::kLeaseGone);
  EXPECT_EQ(task(), "7 0 -");
  EXPECT_TRUE(queue::list_attempts(db_, id).empty());
  EXPECT_EQ(raw_slot_->leases_lost, 0U) << "it is not known to be lost";
  EXPECT_EQ(support::runs_in(*raw_slot_), 0U);
}

// S9: the slot has it before the write, so that a settler knows of it whatever the result of the
// write is; while it is taken back, it does not count as running.
TEST_F(JobRunnerTest, TheSlotHasItWhileItIsAnnouncedAndTakenBack) {
  put_task("test.fail");
  for (const std::string verb : {"INSERT", "DELETE"}) {
    SCOPED_TRACE(verb);
    const BlockedWrites held(db_, "BEFORE " + verb + " ON task_attempt");
    auto block = lease();
    auto result = std::async(std::launch::async, [&] { return run(block, true); });
    ASSERT_TRUE(held.any_held());
    EXPECT_EQ(raw_slot_->run_states[0].load(),
              verb == "INSERT" ? ipc::RunState::kAnnounced : ipc::RunState::kRefunding);
    EXPECT_EQ(raw_slot_->runs[0].run_key, 7U);
    EXPECT_EQ(raw_slot_->runs[0].attempt, 1U);
    held.release();
    EXPECT_EQ(result.get(), Result::kLeaseGone) << "the keeper does not have it: not valid";
    EXPECT_EQ(support::runs_in(*raw_slot_), 0U);
    EXPECT_EQ(task(), "7 0 -");
    db_.execute("UPDATE q_lock_table SET state = 'FREE', lock_by = NULL");
  }
}

// S9: the handler was interrupted, and its worker dies before the attempt is taken back. Its
// settler must not count that as a crash of the task.
TEST_F(ShortLeaseTest, TheSlotSaysThatAnInterruptedAttemptIsTakenBack) {
  const support::TempDir folder;
  for (const bool detached : {false, true}) {
    SCOPED_TRACE(detached ? "detached" : "announced");
    db_.execute("DELETE FROM task; UPDATE q_lock_table SET state = 'FREE', lock_by = NULL");
    config_.detach_after = std::chrono::milliseconds(detached ? 1 : 60'000);
    const std::string gate = folder / ("gate" + std::to_string(detached ? 1 : 0));
    put_task("test.gate", "retry " + gate);
    auto block = lease();
    keeper_.keep(block.lease, boot_ns());
    auto result = std::async(std::launch::async, [&] { return run(block, true); });
    ASSERT_TRUE(support::eventually([&] {
      return slot_.state(0) ==
             (detached ? ipc::RunState::kRunningDetached : ipc::RunState::kRunning);
    }));
    const BlockedWrites held(db_, "BEFORE DELETE ON task_attempt");
    if (detached) {
      db_.execute("UPDATE task_running SET epoch = epoch + 1 WHERE queue_id > 0");
      ASSERT_TRUE(support::eventually([&] { return raw_slot_->leases_lost == 1; }));
      db_.execute("UPDATE task_running SET epoch = epoch - 1 WHERE queue_id > 0");
    } else {
      keeper_.drop();  // doubtful, but not lost
    }
    (void)folder.write("gate" + std::to_string(detached ? 1 : 0), "");
    ASSERT_TRUE(held.any_held());
    EXPECT_EQ(raw_slot_->run_states[0].load(),
              detached ? ipc::RunState::kRefundingDetached : ipc::RunState::kRefunding);
    held.release();
    EXPECT_EQ(result.get(), detached ? Result::kDetached : Result::kWritten);
    EXPECT_EQ(value("SELECT attempt FROM task"), "0");
    EXPECT_EQ(support::runs_in(*raw_slot_), 0U);
  }
}

// S9: a task that finished detached must not run again because its worker dies before that is
// written.
TEST_F(JobRunnerTest, TheSlotSaysThatADetachedTaskHasFinished) {
  config_.detach_after = std::chrono::milliseconds(1);
  put_gated("success");
  auto block = lease();
  keeper_.keep(block.lease, boot_ns());
  const BlockedWrites held(db_, "BEFORE DELETE ON task_running");
  auto result = start_detached(block, "success");
  ASSERT_TRUE(held.any_held());
  EXPECT_EQ(raw_slot_->run_states[0].load(), ipc::RunState::kFinishedDetached);
  held.release();
  EXPECT_EQ(result.get(), Result::kDetached);
  EXPECT_EQ(value("SELECT COUNT(*) FROM task_running"), "0");
  EXPECT_EQ(support::runs_in(*raw_slot_), 0U);
}

TEST_F(JobRunnerTest, AnAnnouncedAttemptGetsItsVerdict) {
  const auto id = put_task("test.retry", "busy");
  auto block = lease();
  keeper_.keep(block.lease, boot_ns());
  EXPECT_EQ(run(block, true), Result::kWritten);
  const auto attempts = queue::list_attempts(db_, id);
  ASSERT_EQ(attempts.size(), 1U);
  EXPECT_EQ(attempts[0].cause, "retry");
  EXPECT_EQ(attempts[0].error, "busy");
  ASSERT_TRUE(attempts[0].usage.runtime_us && attempts[0].usage.cpu_us);  // B13
  EXPECT_GT(attempts[0].usage.max_rss_kib.value_or(0), 1'000U);
  EXPECT_EQ(queue::show(db_, id)->attempts, 1U);
}

// Each verb of a run, in sequence with a lost lease: the first one reports it, and nothing changes.
TEST_F(JobRunnerTest, LostLeaseIsReportedOnce) {
  struct Case {
    const char* type;
    bool careful;
    std::uint32_t charged;  // before
  };
  std::uint64_t lost = 0;
  for (const Case& one :
       {Case{"test.retry", false, 0}, Case{"test.retry", false, 1}, Case{"test.fail", false, 0},
        Case{"test.throw", false, 0}, Case{"test.snooze", false, 0}, Case{"test.release", false, 0},
        Case{"test.retry", true, 0}, Case{"test.retry", false, 2}}) {
    db_.execute("DELETE FROM task; UPDATE q_lock_table SET state = 'FREE', lock_by = NULL");
    put_task(one.type, "0");
    db_.execute("UPDATE task SET attempt = " + std::to_string(one.charged));
    auto block = lease();
    keeper_.keep(block.lease, boot_ns());
    ASSERT_TRUE(keeper_.valid());
    db_.execute("UPDATE q_lock_table SET epoch = epoch + 1, lock_by = 7 WHERE partition_no = 0");
    EXPECT_EQ(run(block, one.careful), Result::kLeaseGone) << one.type;
    EXPECT_EQ(task(), "7 " + std::to_string(one.charged) + " -") << one.type;
    EXPECT_EQ(value("SELECT COUNT(*) FROM task_attempt"), "0") << one.type;
    EXPECT_EQ(value("SELECT COUNT(*) FROM task_dead"), "0") << one.type;
    EXPECT_EQ(raw_slot_->leases_lost, ++lost) << one.type;
    EXPECT_FALSE(keeper_.valid()) << "the rest of the block is dropped";
    keeper_.lose(block.lease, "renew");  // like the keeper, a little later
    EXPECT_EQ(raw_slot_->leases_lost, lost);
  }
}

// max_attempts was lowered, or the last attempt killed its host: dead of its last attempt. If
// losses are counted separately, a charge without a verdict is a loss.
TEST_F(JobRunnerTest, VerdictsAreCountedWhereLossesCountApart) {
  put_task("test.lost");
  db_.execute("UPDATE task SET attempt = 2, headers = 'max_attempts=9\nmax_losses=3\nverdicts=1'");
  for (const bool careful : {false, true, false}) {
    db_.execute("UPDATE task SET run_key = 7");
    auto block = lease();
    keeper_.keep(block.lease, boot_ns());
    EXPECT_EQ(run(block, careful), Result::kWritten);
    keeper_.drop();
    ASSERT_TRUE(leases_.release(db_, block.lease));
  }
  EXPECT_EQ(value("SELECT CONCAT(attempt, ' ', headers) FROM task"),
            "5 max_attempts=9\nmax_losses=3\nverdicts=4");
  EXPECT_EQ(value("SELECT GROUP_CONCAT(attempt, ' ', cause, ' ', error ORDER BY attempt) FROM"
                  " task_attempt"),
            "3 retry attempt 3,4 retry attempt 4,5 retry attempt 5");
}

// It may be tried for ever: the first records are kept, and the latest ones.
TEST_F(JobRunnerTest, SomeRecordsOfManyAttemptsAreKept) {
  put_task("test.lost");
  db_.execute(
      "UPDATE task SET attempt = 100, headers = 'max_attempts=999\nmax_losses=3\nverdicts=100'");
  db_.execute(
      "INSERT INTO task_attempt (queue_id, partition_no, prio, first_key, attempt, ended_at, "
      "cause, error, lock_host, lock_pid) SELECT queue_id, partition_no, prio, run_key, seq, "
      "UTC_TIMESTAMP(6), 'retry', '', 'h', 1 FROM task, " +
      support::numbers(1, 100));
  auto block = lease();
  keeper_.keep(block.lease, boot_ns());
  EXPECT_EQ(run(block, false), Result::kWritten);
  EXPECT_EQ(value("SELECT CONCAT(COUNT(*), ' ', MAX(attempt), ' ', SUM(attempt <= 10), ' ', "
                  "MIN(IF(attempt > 10, attempt, NULL))) FROM task_attempt"),
            "100 101 10 12");
}

// It killed its host four times, each time after the attempt was recorded.
TEST_F(JobRunnerTest, ATaskThatWasLostTooOftenDoesNotRunAgain) {
  put_task("test.lost");
  db_.execute(
      "UPDATE task SET run_key = TIMESTAMPDIFF(MICROSECOND, '2025-01-01', UTC_TIMESTAMP(6)"
      " - INTERVAL 10 SECOND) << 12, "
      "attempt = 5, headers = 'max_attempts=9\nmax_losses=3\nverdicts=1'");
  meter::Record record{};
  meter::Meter meter(record);
  slot_.use(&meter);
  auto block = lease();
  keeper_.keep(block.lease, boot_ns());
  EXPECT_EQ(run(block, true), Result::kWritten);
  std::uint64_t elapsed = 0;
  for (const meter::Pair& pair : record.pairs) elapsed += pair.elapsed_ms;
  EXPECT_GE(elapsed, 10'000U) << "it was due ten seconds ago";
  EXPECT_LT(elapsed, 70'000U);
  EXPECT_EQ(value("SELECT CONCAT(attempt, ' ', cause, ' ', headers) FROM task_dead"),
            "5 lost max_attempts=9\nmax_losses=3\nverdicts=1");
}

TEST_F(JobRunnerTest, NoMoreAttemptsHadAVerdictThanThereWere) {
  put_task("test.lost");
  db_.execute("UPDATE task SET attempt = 0, headers = 'max_losses=3\nverdicts=4'");
  auto block = lease();
  keeper_.keep(block.lease, boot_ns());
  EXPECT_EQ(run(block, false), Result::kWritten);
  EXPECT_EQ(value("SELECT CONCAT(attempt, ' ', headers) FROM task"), "1 max_losses=3\nverdicts=1");
}

TEST_F(JobRunnerTest, WithoutAnAttemptLeftItIsDeadOfTheLastOne) {
  const auto id = put_task("test.retry", "busy");
  auto block = lease();
  keeper_.keep(block.lease, boot_ns());
  for (std::uint32_t attempt = 1; attempt <= 3; ++attempt) {
    ASSERT_EQ(tasks_.charge(db_, queue::fence(block.lease, block.tasks.at(0)), attempt,
                            {attempt == 3 ? "exception" : "retry", std::to_string(attempt)}),
              queue::Fenced::kWritten);
  }
  block.tasks.at(0).attempt = 3;
  EXPECT_EQ(run(block, false), Result::kWritten);
  const auto shown = queue::show(db_, id);
  ASSERT_TRUE(shown && shown->dead);
  EXPECT_EQ(shown->attempts, 3U);
  EXPECT_EQ(shown->cause, "exception");
  EXPECT_EQ(shown->error, "3");
  EXPECT_EQ(queue::list_attempts(db_, id).size(), 3U);
}

TEST_F(JobRunnerTest, ADetachedTaskEndsOutsideOfItsPartition) {
  config_.detach_after = std::chrono::milliseconds(1);
  const auto id = put_gated("retry");
  auto block = lease();
  keeper_.keep(block.lease, boot_ns());
  EXPECT_EQ(start_detached(block, "retry").get(), Result::kDetached);
  EXPECT_EQ(value("SELECT state FROM q_lock_table WHERE partition_no = 0"), "FREE");
  EXPECT_EQ(value("SELECT COUNT(*) FROM task_running"), "0");
  EXPECT_EQ(value("SELECT CONCAT(attempt, ' ', first_key) FROM task"), "1 7");
  const auto attempts = queue::list_attempts(db_, id);
  ASSERT_EQ(attempts.size(), 1U);
  EXPECT_EQ(attempts[0].cause, "retry");
  EXPECT_GE(attempts[0].usage.runtime_us.value_or(0), 1'000U) << "it was detached after 1 ms";
  EXPECT_TRUE(attempts[0].usage.cpu_us);
  EXPECT_EQ(support::runs_in(*raw_slot_), 0U);
}

TEST_F(JobRunnerTest, ADetachedTaskThatWasAnnouncedIsAcknowledgedWithItsRecord) {
  config_.detach_after = std::chrono::milliseconds(1);
  put_gated("success");
  auto block = lease();
  keeper_.keep(block.lease, boot_ns());
  EXPECT_EQ(start_detached(block, "success", true).get(), Result::kDetached);
  for (const char* table : {"task", "task_running", "task_attempt", "task_moved", "task_dead"}) {
    EXPECT_EQ(value(std::string("SELECT COUNT(*) FROM ") + table), "0") << table;
  }
  EXPECT_EQ(raw_slot_->tasks_done, 1U);
}

// A lock wait timeout is an answer: nothing of that try took effect, and a missing task was
// recovered.
TEST_F(JobRunnerTest, ALockWaitIsNotALostReply) {
  config_.detach_after = std::chrono::milliseconds(1);
  session_.call([](db::Connection& db) { return db.execute("SET innodb_lock_wait_timeout = 1"); });
  put_gated("success");
  auto block = lease();
  keeper_.keep(block.lease, boot_ns());
  auto done = std::async(std::launch::async, [&] { return run(block, false); });
  ASSERT_TRUE(
      support::eventually([&] { return value("SELECT COUNT(*) FROM task_running") == "1"; }));
  db::Connection thief(options());
  thief.execute("BEGIN; UPDATE task_running SET lock_by = 7 WHERE queue_id > 0");
  open_gate("success");
  ASSERT_TRUE(support::eventually([&] { return raw_slot_->lock_waits >= 1; }));
  thief.execute("COMMIT");
  EXPECT_EQ(done.get(), Result::kDetached);
  EXPECT_EQ(raw_slot_->leases_lost, 1U);
  EXPECT_EQ(value("SELECT lock_by FROM task_running"), "7");
}

// S16: it was interrupted because its lease was doubtful; no task of its key may overtake it.
TEST_F(JobRunnerTest, AnInterruptedTaskOfAnOrderedQueueEndsItsBlock) {
  served_.info.shape.placement = queue::Placement::kOrdered;
  put_gated("retry");
  auto block = lease();
  keeper_.keep(block.lease, boot_ns());
  auto result = std::async(std::launch::async, [&] { return run_all(block).at(0); });
  ASSERT_TRUE(support::eventually([&] { return support::runs_in(*raw_slot_) == 1; }));
  keeper_.lose(block.lease, "test");
  open_gate("retry");
  const TaskEnd end = result.get();
  EXPECT_EQ(end.result, Result::kPartitionWaits);
  EXPECT_EQ(end.partition_wait, std::chrono::microseconds(0));
  EXPECT_EQ(task(), "7 0 -") << "not charged, and where it was";
}

// A14: whether a task has begun is recorded separately from its charge.
class BegunTest : public JobRunnerTest {
 protected:
  // Runs the only task, and then once more after its expiry.
  Result run_twice(const char* type) {
    put_task(type, "0");
    db_.execute("UPDATE task SET expires_at = UTC_TIMESTAMP(6) + INTERVAL 1 HOUR");
    auto block = lease();
    keeper_.keep(block.lease, boot_ns());
    (void)run(block, false);
    EXPECT_EQ(value("SELECT attempt FROM task"), "0");
    db_.execute("UPDATE task SET expires_at = expires_at - INTERVAL 2 HOUR");
    EXPECT_TRUE(support::eventually([&] {
      block.tasks = queue::fetch(db_, partition(0), {});
      return !block.tasks.empty();
    }));
    return run(block, false);
  }
};

TEST_F(BegunTest, ATaskThatSnoozedDoesNotExpire) {
  EXPECT_EQ(run_twice("test.snooze"), Result::kFinished);
}

TEST_F(BegunTest, ATaskThatWasReleasedDoesNotExpire) {
  EXPECT_EQ(run_twice("test.release"), Result::kFinished);
}

TEST_F(BegunTest, NorInAnOrderedQueue) {
  served_.info.shape.placement = queue::Placement::kOrdered;
  EXPECT_EQ(run_twice("test.release"), Result::kFinished);
  EXPECT_EQ(value("SELECT COUNT(*) FROM task_dead"), "0");
}

// S75: the count is stored with the task, so that neither another worker nor a death loses it.
TEST_F(JobRunnerTest, AStartThatFailsIsNotChargedAHundredTimes) {
  put_task("test.not_started", "");
  auto block = lease();
  keeper_.keep(block.lease, boot_ns());
  const auto again = [&] {
    EXPECT_TRUE(support::eventually([&] {
      block.tasks = queue::fetch(db_, partition(0), {});
      return !block.tasks.empty();
    }));
    EXPECT_EQ(run(block, false), Result::kWritten);
    return value("SELECT CONCAT(attempt, ' ', headers) FROM task");
  };
  EXPECT_EQ(again(), "0 unstarted=1");
  EXPECT_EQ(again(), "0 unstarted=2");
  EXPECT_EQ(value("SELECT COUNT(*) FROM task_attempt"), "0");
  db_.execute("UPDATE task SET headers = 'max_attempts=9\nunstarted=99'");
  EXPECT_EQ(again(), "0 max_attempts=9\nunstarted=100");
  EXPECT_EQ(again(), "1 max_attempts=9\nunstarted=100");
  EXPECT_EQ(value("SELECT CONCAT(cause, ': ', error) FROM task_attempt"),
            "not_started: no such program");
}

TEST_F(JobRunnerTest, AStartThatFailsInAnOrderedQueueKeepsItsPlace) {
  served_.info.shape.placement = queue::Placement::kOrdered;
  put_task("test.not_started", "");
  const std::string key = value("SELECT run_key FROM task");
  auto block = lease();
  keeper_.keep(block.lease, boot_ns());
  EXPECT_EQ(run(block, true), Result::kPartitionWaits);
  EXPECT_EQ(value("SELECT CONCAT(run_key, ' ', attempt, ' ', headers) FROM task"),
            key + " 0 unstarted=1");
  EXPECT_EQ(value("SELECT COUNT(*) FROM task_attempt"), "0");
}

TEST_F(BegunTest, ATaskThatWasPutBackBeforeItsHandlerWasCalledExpires) {
  put_task("test.ok");
  db_.execute("UPDATE task SET expires_at = UTC_TIMESTAMP(6) + INTERVAL 1 HOUR");
  auto block = lease();
  EXPECT_EQ(run(block, true), Result::kLeaseGone) << "announced, and the keeper has no lease";
  EXPECT_EQ(value("SELECT COUNT(*) FROM task WHERE attempt = 0 AND expires_at IS NOT NULL"), "1");
}

TEST_F(JobRunnerTest, RecoveredTaskIsNotChanged) {
  config_.detach_after = std::chrono::milliseconds(1);
  db_.execute(
      "CREATE TRIGGER taken BEFORE INSERT ON task_running FOR EACH ROW"
      " SET NEW.lock_by = 7");
  for (const char* verdict : {"success", "retry", "fail", "snooze"}) {
    db_.execute("DELETE FROM task_running");
    raw_slot_->leases_lost = 0;
    put_gated(verdict);
    auto block = lease();
    keeper_.keep(block.lease, boot_ns());
    EXPECT_EQ(start_detached(block, verdict).get(), Result::kDetached) << verdict;
    EXPECT_EQ(value("SELECT CONCAT(lock_by, ' ', attempt) FROM task_running"), "7 1") << verdict;
    EXPECT_EQ(value("SELECT COUNT(*) FROM task"), "0") << verdict;
    EXPECT_EQ(value("SELECT COUNT(*) FROM task_attempt"), "0") << verdict;
    EXPECT_EQ(raw_slot_->leases_lost, 1U) << verdict;
  }
}

}  // namespace
}  // namespace allot::worker
