// SPDX-License-Identifier: Apache-2.0
// Ordered and limited queues get another number of partitions, while tasks wait and arrive.
// Rule: S17.
#include "queue/operate/resize.h"

#include <gtest/gtest.h>

#include <future>
#include <set>

#include "db/queue/fixture.h"
#include "queue/model/task_facts.h"
#include "queue/operate/cancel.h"
#include "queue/operate/dead_tasks.h"
#include "queue/submit/placement.h"
#include "queue/submit/submit.h"
#include "sql/queries.h"

namespace allot::queue {
namespace {

template <typename Call>
std::string error_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

class ResizeTest : public QueueTest {
 protected:
  QueueInfo make(const QueueShape& shape) { return ensure_queue(observer_, "placed", shape); }
  QueueInfo now() { return *find_queue(observer_, "placed"); }

  static Submission task(const QueueInfo& queue, const std::string& key) {
    Submission task{queue, "t", "x", {}};
    task.options.partition_key = key;
    return task;
  }
  TaskId put(const QueueInfo& queue, const std::string& key) {
    const std::vector<Submission> one{task(queue, key)};
    return submit(worker_.db, one).at(0).id;
  }
  std::vector<Partition> scout(const QueueInfo& queue) {
    return LeaseStore::scout(observer_, {&queue.queue_id, 1});
  }
  std::size_t lift(const QueueInfo& queue) { return lift_layouts(observer_, {&queue.queue_id, 1}); }
  // Runs all tasks of a partition.
  void run_empty(Partition partition) {
    const auto block = worker_.lease(partition);
    ASSERT_TRUE(block);
    std::vector<Finished> done;
    for (const Task& one : block->tasks) done.push_back(finished(one));
    ack_and_release(worker_.db, block->lease, done);
  }
  bool resizing() {
    for (const QueueInfo& queue : list_queues(observer_)) {
      if (queue.name == "placed") return queue.resizing;
    }
    return false;
  }
};

TEST_F(ResizeTest, NewTasksWaitUntilTheFormerLayoutIsEmpty) {
  const QueueInfo before = make({4, Placement::kOrdered});
  const TaskId old = put(before, "a");
  EXPECT_EQ(resize_layout(observer_, before, 7), Resized::kWaits);
  const QueueInfo after = now();
  EXPECT_EQ(after.partitions(), 7U);
  EXPECT_EQ(after.first_partition, 4U);
  EXPECT_TRUE(resizing());

  const TaskId young = put(after, "a");
  EXPECT_EQ(young.partition.partition_no, 4 + number("SELECT CRC32('a') % 7"));
  EXPECT_EQ(scout(after), std::vector<Partition>{old.partition});
  EXPECT_FALSE(worker_.lease(young.partition)) << "it would run in parallel with the one before it";
  EXPECT_EQ(lift(after), 0U);

  run_empty(old.partition);
  EXPECT_EQ(lift(after), 1U);
  EXPECT_EQ(lift(after), 0U);
  EXPECT_FALSE(resizing());
  EXPECT_EQ(scout(after), std::vector<Partition>{young.partition});
}

// Cancelled during its run: its row is gone, its handler is not.
TEST_F(ResizeTest, ALeaseOfTheFormerLayoutIsWaitedForWithoutATask) {
  const QueueInfo before = make({4, Placement::kOrdered});
  const TaskId old = put(before, "a");
  const auto block = worker_.lease(old.partition);
  ASSERT_TRUE(block);
  ASSERT_TRUE(cancel(observer_, old, old.first_key, "not wanted"));
  EXPECT_EQ(resize_layout(observer_, before, 2), Resized::kWaits);
  EXPECT_EQ(lift(before), 0U);
  EXPECT_TRUE(worker_.leases.release(worker_.db, block->lease));
  EXPECT_EQ(lift(before), 1U);
}

TEST_F(ResizeTest, AnEmptyQueueIsResizedAtOnceAndNumbersAreUsedAgain) {
  const QueueInfo before = make({4, Placement::kLimited, 2});
  EXPECT_EQ(resize_layout(observer_, before, 7), Resized::kDone);
  EXPECT_EQ(resize_layout(observer_, now(), 7), Resized::kDone) << "it has that number already";
  EXPECT_EQ(now().layout, 1U);
  EXPECT_EQ(resize_layout(observer_, before, 3), Resized::kDone)
      << "by one who knows the one before";
  const QueueInfo after = now();
  EXPECT_EQ(after.first_partition, 0U);
  EXPECT_EQ(after.layout, 2U);
  EXPECT_EQ(number("SELECT COUNT(*) FROM q_lock_table WHERE queue_id = " +
                   std::to_string(after.queue_id)),
            11U);
  std::set<std::uint32_t> used;
  for (int i = 0; i < 20; ++i) used.insert(put(after, "a").partition.partition_no);
  EXPECT_EQ(used.size(), 2U);
  EXPECT_LT(*used.rbegin(), 3U);
}

TEST_F(ResizeTest, OneAtATime) {
  const QueueInfo before = make({4, Placement::kOrdered});
  put(before, "a");
  EXPECT_EQ(resize_layout(observer_, before, 7), Resized::kWaits);
  EXPECT_EQ(resize_layout(observer_, now(), 7), Resized::kWaits) << "the same again";
  EXPECT_EQ(error_of([&] { resize_layout(observer_, now(), 3); }),
            "queue 'placed' is being resized to 7 partitions: tasks of its former layout wait or "
            "run; try again when it is done");
  EXPECT_EQ(now().layout, 1U);
}

// Its worker may be in a handler whose task was cancelled, so that the partition is empty: tasks of
// a later layout would run concurrently.
TEST_F(ResizeTest, APartitionThatIsLeasedIsNotUsedAgain) {
  const QueueInfo before = make({4, Placement::kOrdered});
  ASSERT_EQ(resize_layout(observer_, before, 7), Resized::kDone);
  const auto block = worker_.lease({before.queue_id, 1});
  ASSERT_TRUE(block);
  const std::string leases = leases_as_text();
  EXPECT_EQ(error_of([&] { resize_layout(observer_, now(), 3); }),
            "queue 'placed' has partitions of an earlier layout that are in use; try again");
  EXPECT_EQ(leases_as_text(), leases);
  EXPECT_EQ(now().partitions(), 7U);
  EXPECT_TRUE(worker_.leases.release(worker_.db, block->lease));
  EXPECT_EQ(resize_layout(observer_, now(), 3), Resized::kDone);
  EXPECT_EQ(now().first_partition, 0U);
}

// The partitions of a layout are not opened for an earlier one.
TEST_F(ResizeTest, ALateLiftOpensNothing) {
  const QueueInfo before = make({4, Placement::kOrdered});
  resize_layout(observer_, before, 7);
  put(now(), "a");
  EXPECT_EQ(resize_layout(observer_, now(), 3), Resized::kWaits);
  db::Statement late(sql::k_lift_layout);
  late.set("queue_id", before.queue_id).set("layout", 1);
  observer_.run({late});
  EXPECT_TRUE(resizing());
  EXPECT_EQ(lift(before), 0U);
}

TEST_F(ResizeTest, SubmitterWithTheFormerLayoutUsesTheNewOne) {
  const QueueInfo before = make({4, Placement::kLimited, 1});
  resize_layout(observer_, before, 7);
  const std::uint64_t expected = 4 + number("SELECT CRC32('a') % 7");
  EXPECT_EQ(put(before, "a").partition.partition_no, expected);
  std::vector<Submission> some{task(before, "a"), task(before, "b")};
  some.back().options.unique_key = "u";
  EXPECT_EQ(submit(worker_.db, some).at(0).id.partition.partition_no, expected);
  // It runs in a caller's transaction with an older view.
  worker_.db.execute("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ");
  worker_.db.execute("BEGIN");
  worker_.db.execute("SELECT COUNT(*) FROM queue");
  EXPECT_EQ(resize_layout(observer_, now(), 3), Resized::kWaits);
  const std::vector<Submission> one{task(before, "a")};
  const Placer placer(observer_, one);
  EXPECT_EQ(submit_within(worker_.db, placer, one).at(0).id.partition.partition_no,
            number("SELECT CRC32('a') % 3"));
  worker_.db.execute("COMMIT");
  EXPECT_EQ(number("SELECT COUNT(*) FROM task WHERE key_hash = CRC32('a')"), 3U);
}

TEST_F(ResizeTest, ATransactionThatSubmittedHoldsTheResize) {
  const QueueInfo before = make({4, Placement::kOrdered});
  worker_.db.execute("BEGIN");
  const std::vector<Submission> one{task(before, "a")};
  const TaskId old = submit_within(worker_.db, Placer(worker_.db, one), one).at(0).id;
  auto resized = std::async(std::launch::async, [&] {
    db::Connection db = connect();
    return resize_layout(db, before, 7);
  });
  ASSERT_TRUE(lock_waits(1));
  worker_.db.execute("COMMIT");
  EXPECT_EQ(resized.get(), Resized::kWaits) << "the task is seen";
  EXPECT_EQ(old.partition.partition_no, number("SELECT CRC32('a') % 4"));
}

TEST_F(ResizeTest, ATransactionThatStaysOpenIsSaid) {
  const QueueInfo before = make({4, Placement::kOrdered});
  worker_.db.execute("BEGIN");
  const std::vector<Submission> one{task(before, "a")};
  submit_within(worker_.db, Placer(worker_.db, one), one);
  observer_.execute("SET SESSION innodb_lock_wait_timeout = 1");
  EXPECT_EQ(error_of([&] { resize_layout(observer_, before, 7); }),
            "queue 'placed' was not resized: a transaction that submitted to it is still open; try "
            "again when it has ended");
  worker_.db.execute("COMMIT");
  EXPECT_EQ(now().partitions(), 4U);
  EXPECT_EQ(scout(before).size(), 1U) << "nothing is held";
}

TEST_F(ResizeTest, ADeadTaskGoesWhereItsKeyIsNow) {
  const QueueInfo before = make({4, Placement::kOrdered});
  const TaskId died = put(before, "a");
  const auto block = worker_.lease(died.partition);
  ASSERT_TRUE(block);
  ASSERT_EQ(worker_.tasks.bury(worker_.db, fence(block->lease, block->tasks.at(0)), 1, kFailure,
                               Then::kRelease),
            Fenced::kWritten);
  EXPECT_EQ(resize_layout(observer_, before, 7), Resized::kDone);
  MovedIds moved;
  EXPECT_EQ(retry_dead(observer_, {&died, 1}, &moved), 1U);
  ASSERT_EQ(moved.size(), 1U);
  EXPECT_EQ(moved.at(0).first, died);
  const TaskId back = moved.at(0).second;
  EXPECT_EQ(back.partition.partition_no, 4 + number("SELECT CRC32('a') % 7"));
  ASSERT_TRUE(show(observer_, back));
  EXPECT_FALSE(show(observer_, died));
  EXPECT_EQ(list_attempts(observer_, back, true).size(), 1U);
  EXPECT_EQ(retry_dead(observer_, {&died, 1}), 0U);
}

TEST_F(ResizeTest, ADeadTaskOfUnknownPlaceIsRefused) {
  const QueueInfo before = make({4, Placement::kOrdered});
  const TaskId died = put(before, "a");
  ASSERT_TRUE(cancel(observer_, died, died.first_key, ""));
  observer_.execute("UPDATE task_dead SET key_hash = NULL WHERE first_key > 0 AND queue_id > 0");
  EXPECT_EQ(retry_dead(observer_, {&died, 1}), 1U) << "never resized: where it was";
  ASSERT_TRUE(show(observer_, died));
  observer_.execute("DELETE FROM task WHERE queue_id > 0");
  const TaskId again = put(before, "a");
  ASSERT_TRUE(cancel(observer_, again, again.first_key, ""));
  observer_.execute("UPDATE task_dead SET key_hash = NULL WHERE first_key > 0 AND queue_id > 0");
  EXPECT_EQ(resize_layout(observer_, before, 7), Resized::kDone);
  const std::string error = error_of([&] { retry_dead(observer_, {&again, 1}); });
  EXPECT_NE(error.find(
                "was submitted without a partition key, and queue 'placed' has since been resized"),
            std::string::npos)
      << error;
  EXPECT_TRUE(show(observer_, again)->dead);
}

class MaxRunningTest : public ResizeTest {
 protected:
  void put_some(const QueueInfo& queue, int count) {
    std::vector<Submission> some;
    for (int i = 0; i < count; ++i) some.push_back(task(queue, "a"));
    submit(worker_.db, some);
  }
  std::uint64_t partitions_used() {
    return number("SELECT COUNT(DISTINCT partition_no) FROM task");
  }
};

// S69: a submission with the former number is refused, and placed again with the present one.
TEST_F(MaxRunningTest, SubmitterWithTheFormerNumberUsesTheNewOne) {
  const QueueInfo before = make({8, Placement::kLimited, 4});
  set_max_running(observer_, before, 1);
  EXPECT_EQ(now().shape.max_running, 1U);
  put_some(before, 40);
  EXPECT_EQ(partitions_used(), 1U);
  set_max_running(observer_, now(), 3);
  worker_.db.execute("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ");
  worker_.db.execute("BEGIN");
  worker_.db.execute("SELECT COUNT(*) FROM queue");
  set_max_running(observer_, now(), 2);
  const std::vector<Submission> some(40, task(before, "a"));
  const Placer placer(observer_, some);
  submit_within(worker_.db, placer, some);
  worker_.db.execute("COMMIT");
  EXPECT_EQ(partitions_used(), 2U);
  observer_.execute("CALL allot_submit('placed', 't', 'x', '{\"partition_key\": \"a\"}', @id, @e)");
  EXPECT_EQ(partitions_used(), 2U);
}

// Each partition runs one task at a time.
TEST_F(MaxRunningTest, WhileFormerTasksAreLeftTheLargerNumberIsTheBound) {
  const QueueInfo before = make({8, Placement::kLimited, 2});
  std::uint64_t largest = 2;
  for (const std::uint32_t next : {5U, 1U, 3U, 8U}) {
    put_some(now(), 60);
    EXPECT_EQ(partitions_used(), largest) << "before " << next;
    set_max_running(observer_, now(), next);
    largest = std::max<std::uint64_t>(largest, next);
  }
  EXPECT_EQ(scout(before).size(), 5U) << "none waits for another one";
  EXPECT_FALSE(resizing());
}

TEST_F(MaxRunningTest, ATransactionThatSubmittedHoldsTheChange) {
  const QueueInfo before = make({4, Placement::kLimited, 2});
  worker_.db.execute("BEGIN");
  const std::vector<Submission> one{task(before, "a")};
  submit_within(worker_.db, Placer(worker_.db, one), one);
  auto changed = std::async(std::launch::async, [&] {
    db::Connection db = connect();
    set_max_running(db, before, 1);
  });
  ASSERT_TRUE(lock_waits(1));
  EXPECT_EQ(now().shape.max_running, 2U);
  worker_.db.execute("COMMIT");
  changed.get();
  EXPECT_EQ(now().shape.max_running, 1U);
}

TEST_F(MaxRunningTest, InvalidNumberIsRefused) {
  const QueueInfo limited = make({4, Placement::kLimited, 2});
  const auto layout = limited.layout;
  EXPECT_EQ(error_of([&] { set_max_running(observer_, limited, 5); }),
            "max_running 5: queue 'placed' has 4 partitions, so it cannot run more tasks of a key");
  EXPECT_EQ(error_of([&] { set_max_running(observer_, make_queue("spread", 4), 2); }),
            "max_running: queue 'spread' is spread, not limited");
  set_max_running(observer_, limited, 2);
  EXPECT_EQ(now().layout, layout) << "nothing new";
  put(limited, "a");
  EXPECT_EQ(resize_layout(observer_, limited, 7), Resized::kWaits);
  EXPECT_EQ(error_of([&] { set_max_running(observer_, now(), 3); }),
            "queue 'placed' is being resized to 7 partitions: tasks of its former layout wait or "
            "run; try again when it is done");
  run_empty(
      {limited.queue_id, static_cast<std::uint16_t>(number("SELECT partition_no FROM task"))});
  EXPECT_EQ(lift(limited), 1U) << "its layout was left alone";
  set_max_running(observer_, now(), 3);
  EXPECT_EQ(now().shape.max_running, 3U);
}

// The procedure reads the number, then the queue is resized, then it makes the task.
TEST_F(ResizeTest, AProcedurePlacesByTheLayoutThatItHoldsOnTo) {
  const QueueInfo before = make({4, Placement::kOrdered});
  observer_.execute("BEGIN");
  observer_.execute(
      "UPDATE queue SET partitions = 7, first_partition = 4, layout = 1"
      " WHERE queue_id = " +
      std::to_string(before.queue_id));
  observer_.execute(
      "INSERT IGNORE INTO q_lock_table (queue_id, partition_no, expire_at)"
      " SELECT queue_id, partition_no + 8, UTC_TIMESTAMP(6) FROM q_lock_table");
  auto made = std::async(std::launch::async, [&] {
    db::Connection db = connect();
    db.execute("CALL allot_submit('placed', 't', 'x', '{\"partition_key\": \"a\"}', @id, @e)");
  });
  ASSERT_TRUE(lock_waits(1));
  observer_.execute("COMMIT");
  made.get();
  EXPECT_EQ(number("SELECT partition_no FROM task WHERE key_hash = CRC32('a')"),
            4 + number("SELECT CRC32('a') % 7"));
  EXPECT_EQ(number("SELECT COUNT(*) FROM task"), 1U);
}

TEST_F(ResizeTest, WhenTheLastTaskIsDue) {
  const QueueInfo queue = make({4, Placement::kLimited, 2});
  EXPECT_FALSE(due_late(observer_, queue));
  put(queue, "a");
  EXPECT_FALSE(due_late(observer_, queue));
  Submission late = task(queue, "a");
  late.options.delay = std::chrono::hours(2);
  submit(worker_.db, {&late, 1});
  EXPECT_TRUE(due_late(observer_, queue));
}

}  // namespace
}  // namespace allot::queue
