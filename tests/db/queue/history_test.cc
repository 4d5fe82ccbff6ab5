// SPDX-License-Identifier: Apache-2.0
// History of finished tasks, and the purge of expired rows (C10).
// Rule: S6.
#include <future>

#include "db/queue/fixture.h"
#include "queue/model/task_facts.h"
#include "queue/operate/dead_tasks.h"
#include "queue/operate/purge.h"
#include "queue/views/task_lists.h"

namespace allot::queue {
namespace {

using std::chrono::microseconds;

class HistoryTest : public QueueTest {
 protected:
  // Acts like a worker whose task has succeeded.
  void succeed(Task& task, const Usage& usage = {1'000, 500, 2'048}) {
    const Holder& holder = worker_.leases.holder();
    task.record = Record{holder.host, holder.pid, task.attempt + 1, usage};
  }
  std::vector<Finished> finish(Block& block) {
    std::vector<Finished> all;
    for (Task& task : block.tasks) {
      succeed(task);
      all.push_back(finished(task));
    }
    return all;
  }
  void age(const std::string& table, const std::string& column, int by_seconds) {
    observer_.execute("UPDATE " + table + " SET " + column + " = " + column + " - INTERVAL " +
                      std::to_string(by_seconds) + " SECOND");
  }
};

TEST_F(HistoryTest, FinishedTaskIsKeptWithItsAcknowledgement) {
  const auto ids = put(3);
  Block block = must_lease();
  const auto all = finish(block);
  ack(worker_.db, partition_, all);
  EXPECT_EQ(number("SELECT COUNT(*) FROM task"), 0U);
  for (const TaskId& id : ids) {
    const auto done = show_done(observer_, id);
    ASSERT_TRUE(done);
    EXPECT_EQ(done->type, "t");
    EXPECT_EQ(done->attempt, 1U);
    EXPECT_EQ(done->usage.runtime_us, 1'000U);
    EXPECT_EQ(done->usage.cpu_us, 500U);
    EXPECT_EQ(done->usage.max_rss_kib, 2'048U);
    EXPECT_EQ(done->worker,
              worker_.leases.holder().host + "/" + std::to_string(worker_.leases.holder().pid));
  }
  // Sent again after a lost reply it changes nothing.
  const std::string before = tasks_as_text();
  ack(worker_.db, partition_, all);
  EXPECT_EQ(tasks_as_text(), before);
}

TEST_F(HistoryTest, AQueueThatDoesNotAskHasNone) {
  put(2);
  Block block = must_lease();
  std::vector<Finished> all;
  for (const Task& task : block.tasks) all.push_back(finished(task));
  ack(worker_.db, partition_, all);
  EXPECT_EQ(number("SELECT COUNT(*) FROM task_history"), 0U);
}

// If the worker died, the task's usage is unknown.
TEST_F(HistoryTest, UnmeasuredValuesAreNull) {
  const TaskId id = put(1).front();
  Block block = must_lease();
  succeed(block.tasks[0], {});
  block.tasks[0].record->attempt = 0;
  const Finished one = finished(block.tasks[0]);
  EXPECT_TRUE(ack_and_release(worker_.db, block.lease, {&one, 1}));
  const auto done = show_done(observer_, id);
  ASSERT_TRUE(done);
  EXPECT_EQ(done->attempt, 1U);
  EXPECT_FALSE(done->usage.runtime_us || done->usage.cpu_us || done->usage.max_rss_kib);
}

TEST_F(HistoryTest, TheNumberOfTheAttemptMayBeLarge) {
  const TaskId id = put(1).front();
  observer_.execute("UPDATE task SET attempt = 300");
  Block block = must_lease();
  ack(worker_.db, partition_, finish(block));
  ASSERT_TRUE(show_done(observer_, id));
  EXPECT_EQ(show_done(observer_, id)->attempt, 301U);
}

TEST_F(HistoryTest, TheAttemptsStayAsLongAsTheTaskIsRemembered) {
  const TaskId id = put(1).front();
  Block block = must_lease();
  ASSERT_EQ(worker_.tasks.retry(worker_.db, fence(block.lease, block.tasks[0]), 1, microseconds(0),
                                kFailure),
            Fenced::kWritten);
  block.tasks = fetch(worker_.db, partition_, {});
  const auto all = finish(block);
  ack(worker_.db, partition_, all);
  EXPECT_EQ(number("SELECT COUNT(*) FROM task_moved"), 0U);
  EXPECT_EQ(list_attempts(observer_, id).size(), 1U);
  ASSERT_TRUE(show_done(observer_, id));
  EXPECT_EQ(show_done(observer_, id)->attempt, 2U);
  age("task_history", "ended_at", 100);
  EXPECT_FALSE(purge_history(worker_.db, queue_.queue_id, std::chrono::seconds(50)));
  EXPECT_EQ(number("SELECT COUNT(*) FROM task_attempt"), 0U);
  EXPECT_FALSE(show_done(observer_, id));
}

// Another holder had the partition and moved the task: it is alive, and not done.
TEST_F(HistoryTest, ALateAcknowledgementOfAMovedTaskKeepsNothing) {
  put(1);
  Block late = must_lease();
  const auto all = finish(late);
  Worker other(connect());
  auto block = other.steal(partition_);
  ASSERT_TRUE(block && block->tasks.size() == 1);
  ASSERT_EQ(other.tasks.retry(other.db, fence(block->lease, block->tasks[0]), 1,
                              std::chrono::hours(1), kFailure),
            Fenced::kWritten);
  ack(worker_.db, partition_, all);
  EXPECT_EQ(number("SELECT COUNT(*) FROM task"), 1U);
  EXPECT_EQ(number("SELECT COUNT(*) FROM task_history"), 0U);
}

// It was cancelled like a waiting one, because it had not run for a second.
TEST_F(HistoryTest, CancelledTaskIsNotKept) {
  const auto ids = put(1);
  Block block = must_lease();
  const auto all = finish(block);
  db::Connection operators = connect();
  operators.execute("BEGIN; DELETE FROM task WHERE queue_id > 0");
  auto acked = std::async(std::launch::async, [&] { ack(worker_.db, partition_, all); });
  ASSERT_TRUE(support::wait_for_lock_waits(observer_, 1));
  operators.execute("COMMIT");
  acked.get();
  EXPECT_FALSE(show_done(observer_, ids[0]));
}

TEST_F(HistoryTest, ADetachedTaskIsKeptWithItsOwnAcknowledgement) {
  const TaskId id = put(1).front();
  Block block = must_lease();
  Task& task = block.tasks[0];
  ASSERT_EQ(worker_.detached.detach(worker_.db, fence(block.lease, task), 1, {}), Fenced::kWritten);
  succeed(task);
  const Fence mine = fence(block.lease, task).once_detached();
  ASSERT_EQ(Verbs().ack(worker_.db, mine, task.record), Fenced::kWritten);
  ASSERT_TRUE(show_done(observer_, id));
  EXPECT_EQ(show_done(observer_, id)->usage.runtime_us, 1'000U);
  EXPECT_EQ(show_done(observer_, id)->attempt, 1U);
  const std::string before = tasks_as_text();
  EXPECT_EQ(Verbs().ack(worker_.db, mine, task.record), Fenced::kLost);
  EXPECT_EQ(tasks_as_text(), before);
}

// It was recovered by another worker, which runs it: it is not done.
TEST_F(HistoryTest, ALateAcknowledgementOfARecoveredTaskKeepsNothing) {
  put(1);
  Block block = must_lease();
  Task& task = block.tasks[0];
  ASSERT_EQ(worker_.detached.detach(worker_.db, fence(block.lease, task), 1, {}), Fenced::kWritten);
  succeed(task);
  Worker other(connect());
  const auto seen = DetachedStore::watch(other.db, std::vector{queue_.queue_id});
  ASSERT_EQ(seen.size(), 1U);
  ASSERT_TRUE(other.detached.recover(other.db, seen[0], DetachedStore::Gone::kStale));
  const std::string before = tasks_as_text();
  const Fence mine = fence(block.lease, task).once_detached();
  EXPECT_EQ(Verbs().ack(worker_.db, mine, task.record), Fenced::kLost);
  EXPECT_EQ(tasks_as_text(), before);
}

TEST_F(HistoryTest, TheListIsPagedTheNewestFirst) {
  const auto ids = put(7);
  Block block = must_lease();
  const auto all = finish(block);
  ack(worker_.db, partition_, all);  // all at one moment
  std::vector<TaskId> seen;
  std::optional<Done> after;
  for (;;) {
    const auto page = list_done(observer_, queue_, 3, after);
    for (const Done& done : page) seen.push_back(done.id);
    if (page.size() < 3) break;
    after = page.back();
  }
  EXPECT_EQ(seen, std::vector<TaskId>(ids.rbegin(), ids.rend()));
}

TEST_F(HistoryTest, APurgeTakesABatchAndOnlyWhatIsOld) {
  observer_.execute(
      "INSERT INTO task_history SELECT " + std::to_string(queue_.queue_id) +
      ", 0, 1, seq, 1, 't', UTC_TIMESTAMP(6) - INTERVAL IF(seq <= 1500, 100, 10) SECOND,"
      " 'h', 1, NULL, NULL, NULL, NULL FROM " +
      support::numbers(1, 1600));
  const auto keep = std::chrono::seconds(50);
  ASSERT_TRUE(purge_lag(observer_, queue_.queue_id, keep, keep).history);
  EXPECT_NEAR(
      static_cast<double>(purge_lag(observer_, queue_.queue_id, keep, keep).history->count()), 50,
      5);
  EXPECT_TRUE(purge_history(worker_.db, queue_.queue_id, keep));
  EXPECT_EQ(number("SELECT COUNT(*) FROM task_history"), 600U);
  EXPECT_FALSE(purge_history(worker_.db, queue_.queue_id, keep));
  EXPECT_EQ(number("SELECT COUNT(*) FROM task_history"), 100U);
  EXPECT_FALSE(purge_lag(observer_, queue_.queue_id, keep, keep).history);
}

TEST_F(HistoryTest, DeadTasksAreRemovedWithTheirAttempts) {
  put(2);
  const Block block = must_lease();
  ASSERT_EQ(worker_.tasks.bury(worker_.db, fence(block.lease, block.tasks[0]), 1, kFailure),
            Fenced::kWritten);
  age("task_dead", "died_at", 100);
  ASSERT_EQ(worker_.tasks.bury(worker_.db, fence(block.lease, block.tasks[1]), 1, kFailure),
            Fenced::kWritten);
  EXPECT_FALSE(purge_dead(worker_.db, queue_.queue_id, std::chrono::seconds(50)));
  EXPECT_EQ(number("SELECT COUNT(*) FROM task_dead"), 1U);
  EXPECT_EQ(number("SELECT COUNT(*) FROM task_attempt"), 1U);
}

// S46: it was retried since the purge found it, and died again.
TEST_F(HistoryTest, ADeadTaskThatDiedAgainIsNotPurged) {
  put(1);
  const Block block = must_lease();
  ASSERT_EQ(worker_.tasks.bury(worker_.db, fence(block.lease, block.tasks[0]), 1, kFailure),
            Fenced::kWritten);
  age("task_dead", "died_at", 100);
  Worker operators(connect());
  operators.db.execute("BEGIN; UPDATE task_dead SET died_at = UTC_TIMESTAMP(6) WHERE queue_id = " +
                       std::to_string(queue_.queue_id));
  auto purge = std::async(std::launch::async, [&] {
    EXPECT_FALSE(purge_dead(worker_.db, queue_.queue_id, std::chrono::seconds(50)));
  });
  EXPECT_TRUE(lock_waits(1));
  operators.db.execute("COMMIT");
  purge.get();
  EXPECT_EQ(number("SELECT COUNT(*) FROM task_dead"), 1U);
  EXPECT_EQ(number("SELECT COUNT(*) FROM task_attempt"), 1U);
}

TEST_F(HistoryTest, ARowOfTheHistoryThatWasWrittenAgainIsNotPurged) {
  put(1);
  Block block = must_lease();
  const auto all = finish(block);
  ack(worker_.db, partition_, all);
  age("task_history", "ended_at", 100);
  Worker other(connect());
  other.db.execute("BEGIN; UPDATE task_history SET ended_at = UTC_TIMESTAMP(6) WHERE queue_id = " +
                   std::to_string(queue_.queue_id));
  auto purge = std::async(std::launch::async, [&] {
    EXPECT_FALSE(purge_history(worker_.db, queue_.queue_id, std::chrono::seconds(50)));
  });
  EXPECT_TRUE(lock_waits(1));
  other.db.execute("COMMIT");
  purge.get();
  EXPECT_EQ(number("SELECT COUNT(*) FROM task_history"), 1U);
}

// Its attempts precede the retry, and its record says that the first attempt succeeded.
TEST_F(HistoryTest, TheAttemptsOfATaskThatCameBackFromTheDeadArePurgedWithIt) {
  const TaskId id = put(1).front();
  Block block = must_lease();
  ASSERT_EQ(worker_.tasks.bury(worker_.db, fence(block.lease, block.tasks[0]), 1, kFailure),
            Fenced::kWritten);
  ASSERT_EQ(retry_dead(observer_, {&id, 1}), 1U);
  block.tasks = fetch(worker_.db, partition_, {});
  ASSERT_EQ(block.tasks.size(), 1U);
  const auto all = finish(block);
  ack(worker_.db, partition_, all);
  ASSERT_EQ(number("SELECT COUNT(*) FROM task_attempt"), 1U);
  ASSERT_TRUE(show_done(observer_, id));
  ASSERT_EQ(show_done(observer_, id)->attempt, 1U);
  age("task_history", "ended_at", 100);
  EXPECT_FALSE(purge_history(worker_.db, queue_.queue_id, std::chrono::seconds(50)));
  EXPECT_EQ(number("SELECT COUNT(*) FROM task_history"), 0U);
  EXPECT_EQ(number("SELECT COUNT(*) FROM task_attempt"), 0U);
}

TEST_F(HistoryTest, KeysThatAreFreeForLongAreRemoved) {
  observer_.execute(
      "INSERT INTO task_unique SELECT " + std::to_string(queue_.queue_id) +
      ", CONCAT('k', seq), 0, 1, seq, 1, 0, CASE seq % 3 WHEN 0 THEN NULL WHEN 1 THEN "
      "UTC_TIMESTAMP(6) - INTERVAL 2 HOUR ELSE UTC_TIMESTAMP(6) END FROM " +
      support::numbers(1, 1500));
  std::string after;
  EXPECT_TRUE(purge_unique(worker_.db, queue_.queue_id, after));
  EXPECT_FALSE(purge_unique(worker_.db, queue_.queue_id, after));
  EXPECT_EQ(after, "");
  EXPECT_EQ(number("SELECT COUNT(*) FROM task_unique"), 1000U);
  EXPECT_EQ(number("SELECT COUNT(*) FROM task_unique WHERE free_at IS NULL"), 500U);
}

// S58: keys that are not submitted again.
TEST_F(HistoryTest, TheSweepCutsTheTimeOfKeysThatAClockThatWasAheadLeft) {
  observer_.execute("INSERT INTO task_unique SELECT " + std::to_string(queue_.queue_id) +
                    ", CONCAT('k', seq), 0, 1, seq, 1, 10000000, UTC_TIMESTAMP(6) + INTERVAL"
                    " IF(seq = 1, 5, 86400 * seq) SECOND FROM " +
                    support::numbers(1, 30));
  std::string after;
  EXPECT_FALSE(purge_unique(worker_.db, queue_.queue_id, after));
  EXPECT_EQ(number("SELECT COUNT(*) FROM task_unique WHERE free_at > UTC_TIMESTAMP(6)"
                   " AND free_at <= UTC_TIMESTAMP(6) + INTERVAL 10 SECOND"),
            30U);
  EXPECT_EQ(number("SELECT COUNT(*) FROM task_unique"
                   " WHERE free_at < UTC_TIMESTAMP(6) + INTERVAL 6 SECOND"),
            1U);
}

// S46: with two purgers, or one that does not lead any more, a key is purged only if it is free
// when its row is locked; an earlier check is not enough.
TEST_F(HistoryTest, AKeyThatIsTakenAgainIsNotPurged) {
  observer_.execute("INSERT INTO task_unique VALUES (" + std::to_string(queue_.queue_id) +
                    ", 'k', 0, 1, 1, 1, 0, UTC_TIMESTAMP(6) - INTERVAL 2 HOUR)");
  Worker submitter(connect());
  submitter.db.execute("BEGIN; UPDATE task_unique SET free_at = NULL WHERE queue_id = " +
                       std::to_string(queue_.queue_id) + " AND unique_key = 'k'");
  auto purge = std::async(std::launch::async, [&] {
    std::string after;
    EXPECT_FALSE(purge_unique(worker_.db, queue_.queue_id, after));
  });
  EXPECT_TRUE(lock_waits(1));
  submitter.db.execute("COMMIT");
  purge.get();
  EXPECT_EQ(number("SELECT COUNT(*) FROM task_unique"), 1U);
}

}  // namespace
}  // namespace allot::queue
