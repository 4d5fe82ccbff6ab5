// SPDX-License-Identifier: Apache-2.0
// Work of a settler besides charging: history, hooks, several tasks at a time.
// Rule: S63.
#include "db/worker/settle_fixture.h"

namespace allot::worker {
namespace {

// C10: the slot has enough; the usage of the tasks is unknown.
TEST_F(SettleTest, FinishedTaskIsWrittenToTheHistory) {
  settings_.queues[0].history = std::chrono::hours(1);
  for (std::uint64_t key = 1; key <= 3; ++key) put(partition(0), {1, key});
  db_.execute("UPDATE task SET attempt = 4 WHERE run_key = 2");
  const auto block = lease(0);
  slot_.add_finished(queue::finished(block.tasks[0]));
  begin_run(slot_, block.tasks[1], 5, 10, 0, 0);
  return_run(slot_, process::RunEvent::kFinish);
  slot_.add_finished(queue::finished(block.tasks[1]));
  settle_it();
  settle_it();
  EXPECT_EQ(value("SELECT GROUP_CONCAT(first_key, ':', attempt, ':', type, ':', runtime_us IS NULL"
                  " ORDER BY first_key) FROM task_history"),
            "1:1:t:1,2:5:t:1");
  EXPECT_EQ(value("SELECT GROUP_CONCAT(run_key) FROM task"), "3");
}

// C9: the last attempt of running tasks, in the partition and detached.
TEST_F(SettleTest, ADeathSetsOffItsHook) {
  settings_.queues[0].on_dead = "ops/alert";
  const auto ops = queue::ensure_queue(db_, "ops", {1});
  const std::string alerts = "SELECT COUNT(*) FROM task WHERE type = 'alert'";
  put(partition(0), {1, 5});
  {
    const auto block = lease(0);
    begin_run(slot_, block.tasks[0], 3, 3, 0, 0);
  }
  settle_it();
  settle_it();
  EXPECT_EQ(value(alerts), "1");
  EXPECT_EQ(value("SELECT JSON_VALUE(CONVERT(payload USING utf8mb4), '$.cause') FROM task WHERE "
                  "type = 'alert'"),
            "signal");
  end_run(slot_);
  slot_.clear_finished();
  detach(3, 3);
  settle_it();
  settle_it();
  EXPECT_EQ(value(alerts), "2");
  EXPECT_EQ(value("SELECT COUNT(*) FROM task_dead"), "2");
  static_cast<void>(ops);
}

// B14: it is unknown which task was at fault.
TEST_F(SettleTest, SeveralTasksAreNotChargedAndRunAlone) {
  for (std::uint64_t key = 1; key <= 4; ++key) put(partition(0), {1, key});
  const auto block = lease(0);
  slot_.add_finished(queue::finished(block.tasks[0]));
  begin_run(slot_, block.tasks[1], 1, 1, 0, 0, ipc::Limit::kTime, 0);
  begin_run(slot_, block.tasks[2], 1, 1, 0, 0, ipc::Limit::kTime, 7);
  for (int times = 0; times < 2; ++times) settle_it();
  EXPECT_EQ(value("SELECT GROUP_CONCAT(run_key, ':', attempt, ':', flags ORDER BY run_key)"
                  " FROM task"),
            "2:0:1,3:0:1,4:0:0");
  EXPECT_EQ(value("SELECT COUNT(*) FROM task_attempt"), "0");
  EXPECT_EQ(state(0), "FREE");
}

// The task for which the supervisor killed the worker is charged, and no other.
TEST_F(SettleTest, OnlyTheTaskOverItsTimeIsCharged) {
  for (std::uint64_t key = 1; key <= 3; ++key) put(partition(0), {1, key});
  const auto block = lease(0);
  begin_run(slot_, block.tasks[0], 1, 10, 0, boot_ns() + 60 * kSecond, ipc::Limit::kTime, 0);
  begin_run(slot_, block.tasks[1], 1, 10, 0, boot_ns() - 1, ipc::Limit::kTime, 1);
  begin_run(slot_, block.tasks[2], 1, 10, 0, 0, ipc::Limit::kTime, 2);
  settle_it();
  EXPECT_EQ(value("SELECT GROUP_CONCAT(run_key, ':', attempt, ':', flags ORDER BY run_key)"
                  " FROM task"),
            "1:0:0,2:1:0,3:0:0");
  EXPECT_EQ(value("SELECT GROUP_CONCAT(first_key, ' ', cause) FROM task_attempt"), "2 timeout");
  EXPECT_EQ(state(0), "FREE");
}

// A14: it had begun, although nothing is charged to it.
TEST_F(SettleTest, NeighbourOfACrashDoesNotExpire) {
  for (const bool known : {false, true}) {
    SCOPED_TRACE(known ? "one is at fault" : "the culprit is unknown");
    db_.execute("DELETE FROM task");
    for (std::uint64_t key = 1; key <= 3; ++key) put(partition(0), {1, key});
    db_.execute("UPDATE task SET expires_at = UTC_TIMESTAMP(6) + INTERVAL 1 HOUR");
    const auto block = lease(0);
    begin_run(slot_, block.tasks[0], 1, 10, 0, 0, ipc::Limit::kTime, 0);
    begin_run(slot_, block.tasks[1], 1, 10, 0, known ? boot_ns() - 1 : 0, ipc::Limit::kTime, 1);
    settle_it();
    EXPECT_EQ(value("SELECT GROUP_CONCAT(run_key, ':', attempt, ':', expires_at IS NULL"
                    " ORDER BY run_key) FROM task"),
              known ? "1:0:1,2:1:1,3:0:0" : "1:0:1,2:0:1,3:0:0");
  }
}

// A13: tasks of one call, or begun together. When each runs alone, the hanging one is identified.
TEST_F(SettleTest, SeveralTasksOverTheirTimeAreNotCharged) {
  for (std::uint64_t key = 1; key <= 4; ++key) put(partition(0), {1, key});
  const auto block = lease(0);
  for (std::size_t i = 0; i < 3; ++i) {
    begin_run(slot_, block.tasks[i], 1, 1, 0, boot_ns() - 1, ipc::Limit::kTime, i);
  }
  for (int times = 0; times < 2; ++times) settle_it();
  EXPECT_EQ(value("SELECT GROUP_CONCAT(run_key, ':', attempt, ':', flags ORDER BY run_key)"
                  " FROM task"),
            "1:0:1,2:0:1,3:0:1,4:0:0");
  EXPECT_EQ(value("SELECT COUNT(*) FROM task_attempt"), "0");
  EXPECT_EQ(value("SELECT COUNT(*) FROM task_dead"), "0");
  EXPECT_EQ(state(0), "FREE");
}

// It was detached from one partition, while the worker had the lease of another.
TEST_F(SettleTest, TaskDetachedWithOthersIsReturnedFlagged) {
  for (std::uint64_t key = 1; key <= 2; ++key) put(partition(0), {1, key});
  put(partition(1), {1, 9});
  const auto first = lease(0);
  for (const std::size_t entry : {0U, 1U}) {
    begin_run(slot_, first.tasks[entry], 1, 10, 0, 0, ipc::Limit::kTime, entry);
    ASSERT_EQ(detached_.detach(db_, queue::fence(first.lease, first.tasks[entry]), 1, {},
                               queue::Then::kKeepLease),
              queue::Fenced::kWritten);
  }
  slot_.mark(0, process::RunEvent::kDetach);  // the death came before the other was noted
  ASSERT_TRUE(leases_.release(db_, first.lease));
  slot_.end_lease();
  const auto second = lease(1);
  begin_run(slot_, second.tasks[0], 1, 10, 0, 0, ipc::Limit::kTime, 2);
  settle_it();
  EXPECT_EQ(value("SELECT GROUP_CONCAT(partition_no, ':', run_key, ':', attempt, ':', flags"
                  " ORDER BY run_key) FROM task"),
            "0:1:0:65,0:2:0:65,1:9:0:1");
  EXPECT_EQ(value("SELECT COUNT(*) FROM task_running"), "0");
  EXPECT_EQ(state(1), "FREE");
}

// It finished detached, and is not yet acknowledged there.
TEST_F(SettleTest, AFinishedDetachedTaskIsNotRunAgain) {
  put(partition(0), {1, 1});
  const auto block = lease(0);
  begin_run(slot_, block.tasks[0], 1, 10, 0, 0, ipc::Limit::kTime, 5);
  ASSERT_EQ(detached_.detach(db_, queue::fence(block.lease, block.tasks[0]), 1, {},
                             queue::Then::kKeepLease),
            queue::Fenced::kWritten);
  slot_.mark(5, process::RunEvent::kDetach);
  return_run(slot_, process::RunEvent::kFinish, 5);
  settle_it();
  EXPECT_EQ(value("SELECT (SELECT COUNT(*) FROM task) + (SELECT COUNT(*) FROM task_running)"), "0");
  EXPECT_EQ(state(0), "FREE");
}

// B11 with B14: the end of one task was requested, and the state of the other is unknown.
TEST_F(SettleTest, OnlyTheCancelledTaskIsDead) {
  for (std::uint64_t key = 1; key <= 3; ++key) put(partition(0), {1, key});
  const auto block = lease(0);
  begin_run(slot_, block.tasks[0], 1, 10, 0, 0, ipc::Limit::kTime, 0);
  begin_run(slot_, block.tasks[1], 1, 10, 0, 0, ipc::Limit::kTime, 1);
  db_.execute(
      "INSERT INTO task_cancel SELECT queue_id, partition_no, prio, run_key, 'enough',"
      " UTC_TIMESTAMP(6), 0 FROM task WHERE run_key = 2");
  for (int times = 0; times < 2; ++times) settle_it();
  EXPECT_EQ(value("SELECT GROUP_CONCAT(run_key, ':', attempt, ':', flags ORDER BY run_key)"
                  " FROM task"),
            "1:0:1,3:0:0");
  EXPECT_EQ(value("SELECT GROUP_CONCAT(first_key, ' ', cause, ' ', error) FROM task_dead"),
            "2 cancelled enough");
  EXPECT_EQ(value("SELECT COUNT(*) FROM task_cancel"), "0");
  EXPECT_EQ(state(0), "FREE");
}

// The supervisor killed the worker for it, after its grace time: its neighbour is not involved.
TEST_F(SettleTest, CancelledTaskOverItsTimeSuspectsNoOther) {
  for (std::uint64_t key = 1; key <= 2; ++key) put(partition(0), {1, key});
  const auto block = lease(0);
  begin_run(slot_, block.tasks[0], 1, 10, 0, 0, ipc::Limit::kTime, 0);
  begin_run(slot_, block.tasks[1], 1, 10, 0, boot_ns() - 1, ipc::Limit::kTime, 1);
  db_.execute(
      "INSERT INTO task_cancel SELECT queue_id, partition_no, prio, run_key, 'enough',"
      " UTC_TIMESTAMP(6), 0 FROM task WHERE run_key = 2");
  settle_it();
  EXPECT_EQ(value("SELECT GROUP_CONCAT(run_key, ':', attempt, ':', flags ORDER BY run_key)"
                  " FROM task"),
            "1:0:0");
  EXPECT_EQ(value("SELECT GROUP_CONCAT(first_key, ' ', cause) FROM task_dead"), "2 cancelled");
  EXPECT_EQ(state(0), "FREE");
}

// B11 with A13: the end of some tasks was requested, and the whole call exceeds its time.
TEST_F(SettleTest, CancelledTaskOverItsTimeIsDeadAndTheRestSuspect) {
  for (std::uint64_t key = 1; key <= 2; ++key) put(partition(0), {1, key});
  const auto block = lease(0);
  for (std::size_t i = 0; i < 2; ++i) {
    begin_run(slot_, block.tasks[i], 1, 1, 0, boot_ns() - 1, ipc::Limit::kTime, i);
  }
  db_.execute(
      "INSERT INTO task_cancel SELECT queue_id, partition_no, prio, run_key, 'enough',"
      " UTC_TIMESTAMP(6), 0 FROM task WHERE run_key = 2");
  settle_it();
  EXPECT_EQ(value("SELECT GROUP_CONCAT(run_key, ':', attempt, ':', flags) FROM task"), "1:0:1");
  EXPECT_EQ(value("SELECT GROUP_CONCAT(first_key, ' ', cause) FROM task_dead"), "2 cancelled");
  EXPECT_EQ(state(0), "FREE");
}

// Only tasks with a requested end exceed their time: that is the reason, and none is a suspect.
TEST_F(SettleTest, SeveralOverdueCancelledTasksMakeNoSuspect) {
  for (std::uint64_t key = 1; key <= 3; ++key) put(partition(0), {1, key});
  const auto block = lease(0);
  begin_run(slot_, block.tasks[0], 1, 1, 0, boot_ns() + 60 * kSecond, ipc::Limit::kTime, 0);
  for (std::size_t i = 1; i < 3; ++i) {
    begin_run(slot_, block.tasks[i], 1, 1, 0, boot_ns() - 1, ipc::Limit::kTime, i);
  }
  db_.execute(
      "INSERT INTO task_cancel SELECT queue_id, partition_no, prio, run_key, 'enough',"
      " UTC_TIMESTAMP(6), 0 FROM task WHERE run_key > 1");
  settle_it();
  EXPECT_EQ(value("SELECT GROUP_CONCAT(run_key, ':', attempt, ':', flags) FROM task"), "1:0:0");
  EXPECT_EQ(value("SELECT COUNT(*) FROM task_dead WHERE cause = 'cancelled'"), "2");
  EXPECT_EQ(state(0), "FREE");
}

}  // namespace
}  // namespace allot::worker
