// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <regex>
#include <thread>

#include "db/queue/fixture.h"
#include "queue/model/catalog.h"
#include "queue/model/task_facts.h"
#include "queue/operate/limits.h"
#include "queue/operate/resize.h"
#include "queue/views/task_lists.h"

namespace allot::queue {
namespace {

class InspectTest : public QueueTest {
 protected:
  static bool is_time(const std::string& text) {
    static const std::regex kForm(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z)");
    return std::regex_match(text, kForm);
  }
  void fill(std::uint64_t count) {
    observer_.execute(
        "INSERT INTO task (queue_id, partition_no, prio, run_key, type, payload)"
        " WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < " +
        std::to_string(count) + ") SELECT " + std::to_string(queue_.queue_id) +
        ", 0, 1, i, 't', '' FROM n");
  }
};

TEST_F(InspectTest, ShowNamesTheHolder) {
  const TaskId id = put(1).front();
  auto view = show(observer_, id);
  ASSERT_TRUE(view);
  EXPECT_EQ(view->holder, "");
  EXPECT_FALSE(view->dead);
  EXPECT_TRUE(is_time(view->at)) << view->at;
  must_lease();
  const Holder& holder = worker_.leases.holder();
  EXPECT_EQ(show(observer_, id)->holder, holder.host + "/" + std::to_string(holder.pid));
}

// The database's clock in UTC, whatever the server's time zone is (here an unusual one).
TEST_F(InspectTest, TimesAreUtc) {
  worker_.db.execute("SET timestamp = 1790000000.123456");
  const std::vector<Submission> one{{queue_, "t", "", {}}};
  const TaskId id = submit(worker_.db, one).at(0).id;
  EXPECT_EQ(show(observer_, id)->at.substr(0, 24), "2026-09-21T14:13:20.1234");
}

TEST_F(InspectTest, UnknownTaskIsNotShown) {
  const TaskId id = put(1).front();
  for (TaskId other :
       {TaskId{{id.partition.queue_id + 1, 0}, 1, id.first_key},
        TaskId{{id.partition.queue_id, 1}, 1, id.first_key}, TaskId{id.partition, 2, id.first_key},
        TaskId{id.partition, 1, id.first_key + 1}}) {
    EXPECT_FALSE(show(observer_, other));
    EXPECT_TRUE(list_attempts(observer_, other).empty());
  }
  const std::vector<Finished> done{{{1, id.first_key}, std::nullopt}};
  ack(worker_.db, partition_, done);
  EXPECT_FALSE(show(observer_, id));
}

// A moved task is found only by its id, not by its present key.
TEST_F(InspectTest, TheKeyOfAMovedTaskIsNotAnId) {
  const TaskId id = put(1).front();
  const Block block = must_lease();
  ASSERT_EQ(worker_.tasks.retry(worker_.db, fence(block.lease, block.tasks.at(0)), 1,
                                std::chrono::seconds(5), kFailure),
            Fenced::kWritten);
  const std::uint64_t now_at = number("SELECT run_key FROM task");
  ASSERT_NE(now_at, id.first_key);
  EXPECT_TRUE(show(observer_, id));
  EXPECT_FALSE(show(observer_, {id.partition, id.prio, now_at}));
}

TEST_F(InspectTest, ListsAreBoundedAndInOrder) {
  const std::vector<TaskId> ids = put(5);
  auto views = list_tasks(observer_, queue_, 3);
  ASSERT_EQ(views.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(views[i].id, ids[i]);
    EXPECT_EQ(views[i].type, "t");
    EXPECT_EQ(views[i].payload_size, 1U);
    EXPECT_TRUE(is_time(views[i].at));
  }
  const Block block = must_lease();
  for (const Task& task : block.tasks) {
    ASSERT_EQ(worker_.tasks.bury(worker_.db, fence(block.lease, task), 1, kFailure),
              Fenced::kWritten);
  }
  EXPECT_TRUE(list_tasks(observer_, queue_, 10).empty());
  views = list_dead(observer_, queue_, 4);
  ASSERT_EQ(views.size(), 4U);
  EXPECT_EQ(views[0].id, ids[4]) << "the newest first";
  EXPECT_TRUE(views[0].dead);
  EXPECT_EQ(views[0].attempts, 1U);
  EXPECT_EQ(views[0].cause, "failed");
  EXPECT_EQ(views[0].error, "it did not work");
  EXPECT_TRUE(is_time(views[0].at));
}

TEST_F(InspectTest, APauseHasATimeAndAReason) {
  EXPECT_FALSE(list_queues(observer_).at(0).paused);
  pause(observer_, queue_, "größer\xff");
  const QueueInfo paused = list_queues(observer_).at(0);
  ASSERT_TRUE(paused.paused);
  EXPECT_TRUE(is_time(paused.paused->at)) << paused.paused->at;
  EXPECT_EQ(paused.paused->reason, "größer\xef\xbf\xbd");
  pause(observer_, queue_, "another");
  EXPECT_EQ(list_queues(observer_).at(0).paused->reason, "another");
  EXPECT_EQ(list_queues(observer_).at(0).paused->at, paused.paused->at) << "since the first time";
}

TEST_F(InspectTest, CountsAreOfTheirQueue) {
  const QueueInfo other = make_queue("other", 2);
  put(3);
  EXPECT_EQ(count_waiting(observer_, queue_).value, 3U);
  EXPECT_EQ(count_waiting(observer_, other).value, 0U);
  const Block block = must_lease();
  ASSERT_EQ(worker_.tasks.bury(worker_.db, fence(block.lease, block.tasks.at(0)), 1, kFailure),
            Fenced::kWritten);
  EXPECT_EQ(count_waiting(observer_, queue_).value, 2U);
  EXPECT_EQ(count_dead(observer_, queue_).value, 1U);
  EXPECT_EQ(count_dead(observer_, other).value, 0U);
  EXPECT_FALSE(count_dead(observer_, queue_).at_least);
}

TEST_F(InspectTest, ACountStopsAtItsBound) {
  fill(kCountBound);
  EXPECT_EQ(count_waiting(observer_, queue_).value, kCountBound);
  EXPECT_FALSE(count_waiting(observer_, queue_).at_least);
  put(1);
  EXPECT_EQ(count_waiting(observer_, queue_).value, kCountBound);
  EXPECT_TRUE(count_waiting(observer_, queue_).at_least);
}

using CatalogTest = QueueTest;

TEST_F(CatalogTest, AQueueKeepsItsPartitions) {
  const QueueInfo made = ensure_queue(observer_, "new", {5});
  EXPECT_EQ(made.partitions(), 5U);
  // S17: the database owns the number.
  const QueueInfo again = ensure_queue(observer_, "new", {9});
  EXPECT_EQ(again.queue_id, made.queue_id);
  EXPECT_EQ(again.partitions(), 5U);
  EXPECT_EQ(number("SELECT COUNT(*) FROM q_lock_table WHERE state = 'FREE' AND epoch = 0 AND"
                   " queue_id = " +
                   std::to_string(made.queue_id)),
            5U);
}

// Both wait for a third one. When that is rolled back, each of them has a lock that the other one
// needs.
TEST_F(CatalogTest, ADeadlockOfTwoThatMakeAQueueIsNotAnError) {
  db::Connection third = connect();
  third.execute(
      "BEGIN; INSERT INTO queue (name, partitions, placement, max_running, created_at, routed)"
      " VALUES ('new', 1, 'spread', 0, UTC_TIMESTAMP(6), 0)");
  std::array<std::uint32_t, 2> made{};
  const auto make = [&](std::uint32_t& id) {
    return std::thread([&] {
      db::Connection db = connect();
      EXPECT_NO_THROW(id = ensure_queue(db, "new", {2}).queue_id);
    });
  };
  std::thread one = make(made[0]);
  std::thread other = make(made[1]);
  EXPECT_TRUE(lock_waits(2));
  const std::uint64_t deadlocks = counter("Innodb_deadlocks");
  third.execute("ROLLBACK");
  one.join();
  other.join();
  EXPECT_GT(counter("Innodb_deadlocks"), deadlocks);
  EXPECT_NE(made[0], 0U);
  EXPECT_EQ(made[0], made[1]);
}

TEST_F(CatalogTest, NamesAreByteForByte) {
  const QueueInfo lower = ensure_queue(observer_, "mail", {1});
  const QueueInfo upper = ensure_queue(observer_, "Mail", {2});
  EXPECT_NE(lower.queue_id, upper.queue_id);
  EXPECT_EQ(find_queue(observer_, "Mail")->partitions(), 2U);
  EXPECT_FALSE(find_queue(observer_, "MAIL"));
  std::string names;
  for (const QueueInfo& queue : list_queues(observer_)) names += queue.name + " ";
  EXPECT_EQ(names, "Mail mail q ");
}

// S59: partition numbers count, not the number of rows; and the holder of a deleted row may still
// start tasks.
TEST_F(CatalogTest, MissingLeaseRowsAreHealedAndTakenOnesLeftAlone) {
  const QueueInfo wide = make_queue("wide", 3);
  Worker worker(connect());
  const auto block = worker.lease({wide.queue_id, 1});
  ASSERT_TRUE(block);
  observer_.execute("DELETE FROM q_lock_table WHERE partition_no IN (0, 2) AND queue_id = " +
                    std::to_string(wide.queue_id));
  ensure_queue(observer_, "wide", {3});
  EXPECT_EQ(worker.leases.held_epoch(worker.db, {wide.queue_id, 1}), block->lease.epoch);
  EXPECT_FALSE(worker.lease({wide.queue_id, 0}));
  EXPECT_FALSE(worker.lease({wide.queue_id, 2}));
  for (const Observation& seen : LeaseStore::watch(observer_, std::vector{wide.queue_id})) {
    if (seen.partition.partition_no == 1) continue;
    EXPECT_FALSE(seen.expired);
    EXPECT_GT(seen.remaining, std::chrono::seconds(30));
    EXPECT_EQ(seen.ttl, std::chrono::seconds(62))
        << "half of it is the longest lease, and a second";
  }
}

// S59: also for a partition that the queue no longer has, and for one that only a task names.
TEST_F(CatalogTest, HolesAreFoundInAllQueuesByTheirNumbers) {
  const QueueInfo wide = make_queue("wide", 6);
  const std::string id = std::to_string(wide.queue_id);
  EXPECT_TRUE(queue_holes(observer_).empty());
  observer_.execute("UPDATE queue SET partitions = 2 WHERE queue_id = " + id);
  put_row({wide.queue_id, 5}, {1, 7});
  observer_.execute("DELETE FROM q_lock_table WHERE partition_no IN (1, 5) AND queue_id = " + id);
  const auto holes = queue_holes(observer_);
  ASSERT_EQ(holes.size(), 1U);
  EXPECT_EQ(holes[0].queue, "wide");
  EXPECT_EQ(holes[0].missing, 2U);
  EXPECT_EQ(fill_holes(observer_).size(), 1U);
  EXPECT_TRUE(queue_holes(observer_).empty());
  EXPECT_EQ(number("SELECT COUNT(*) FROM q_lock_table WHERE state = 'LOCKED' AND queue_id = " + id),
            2U);
  resize(observer_, wide, 8);
  EXPECT_EQ(number("SELECT COUNT(*) FROM q_lock_table WHERE state = 'FREE' AND partition_no > 5"
                   " AND queue_id = " +
                   id),
            2U)
      << "those that were never there are free";
}

TEST_F(CatalogTest, ManyAtOnceMakeOneQueue) {
  std::vector<std::thread> threads;
  std::vector<QueueInfo> made(6);
  for (std::size_t i = 0; i < made.size(); ++i) {
    threads.emplace_back([&, i] {
      db::Connection db = connect();
      made[i] = ensure_queue(db, "together", {16});
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const QueueInfo& queue : made) EXPECT_EQ(queue.queue_id, made[0].queue_id);
  EXPECT_EQ(number("SELECT COUNT(*) FROM q_lock_table WHERE queue_id = " +
                   std::to_string(made[0].queue_id)),
            16U);
}

}  // namespace
}  // namespace allot::queue
