// SPDX-License-Identifier: Apache-2.0
// S16: how long a partition waits for its first task, and that it does not wait for a removed one.
#include "db/queue/fixture.h"
#include "queue/model/catalog.h"
#include "queue/model/task_facts.h"
#include "queue/operate/cancel.h"
#include "queue/operate/move.h"

namespace allot::queue {
namespace {

using std::chrono::hours;

// S16: the awaited task may be removed from the partition.
class HoldTest : public QueueTest {
 protected:
  // The first of two tasks is to be retried in an hour.
  std::vector<TaskId> held() {
    auto ids = put(2);
    const Block block = must_lease();
    EXPECT_EQ(worker_.tasks.charge(worker_.db, fence(block.lease, block.tasks.at(0)), 1, kFailure,
                                   Then::kRelease, hours(1)),
              Fenced::kWritten);
    EXPECT_FALSE(waits_no_more());
    return ids;
  }
  bool waits_no_more() {
    const bool found = LeaseStore::scout(observer_, std::vector{queue_.queue_id}).size() == 1;
    const auto key =
        number("SELECT MAX(run_key) FROM task WHERE queue_id = " + std::to_string(queue_.queue_id));
    const auto waiting = show(observer_, {partition_, 1, key});
    if (!waiting) throw std::runtime_error("no task with that key is left");
    EXPECT_EQ(standing(observer_, *waiting)->defer_until.has_value(), !found);
    return found;
  }
};

TEST_F(HoldTest, EndsWithItsTask) {
  const auto ids = held();
  ASSERT_TRUE(cancel_task(observer_, ids[0], "not wanted").done);
  EXPECT_TRUE(waits_no_more());
  const Block block = must_lease();
  ASSERT_EQ(block.tasks.size(), 1U);
  EXPECT_EQ(block.tasks[0].key.run_key, ids[1].first_key);
  EXPECT_EQ(number("SELECT defer_until IS NULL FROM q_lock_table"), 1U)
      << "nor is it there when this host comes back and reclaims the lease";
}

// While the task is there, even between a cancel and its commit, no other task passes it; and the
// cancel blocks nothing.
TEST_F(HoldTest, IsThereUntilItsTaskIsGone) {
  const auto ids = held();
  db::Connection operator_one = connect();
  operator_one.execute(
      "BEGIN; DELETE FROM task WHERE run_key = " + std::to_string(ids[0].first_key) +
      " AND queue_id = " + std::to_string(queue_.queue_id));
  worker_.db.execute("SET SESSION innodb_lock_wait_timeout = 1");
  EXPECT_FALSE(worker_.lease(partition_));
  EXPECT_FALSE(waits_no_more());
  operator_one.execute("COMMIT");
  EXPECT_TRUE(worker_.lease(partition_));
}

TEST_F(HoldTest, DoesNotEndWithAnotherTask) {
  const auto ids = held();
  ASSERT_TRUE(cancel_task(observer_, ids[1], "not wanted").done);
  put_row(partition_, {1, 1}, "before both");
  EXPECT_FALSE(waits_no_more());
  EXPECT_FALSE(worker_.lease(partition_));
}

// An operator who leases the partition to move other tasks leaves it unchanged.
TEST_F(HoldTest, StaysWhenAnotherTaskIsMoved) {
  const auto ids = held();
  const QueueInfo other = make_queue("other", 1);
  const Mover mover(make_holder("test", "/"), queue_);
  const auto moved = [&](const TaskId& id) {
    const Waiting task{partition_, {1, id.first_key}, id.first_key, "t", false};
    return mover.move(observer_, {&task, 1}, {other.queue_id, 0}).value_or(0);
  };
  put_row(partition_, {1, 7}, "another");
  EXPECT_EQ(moved({partition_, 1, 7}), 1U);
  EXPECT_FALSE(waits_no_more());
  EXPECT_EQ(moved(ids[0]), 1U);
  EXPECT_TRUE(waits_no_more());
}

// S60: the clock was ahead when the partition was released, and is correct again. From now on the
// hold lasts for its own duration.
TEST_F(HoldTest, FromAClockThatWasAheadLastsItsOwnTime) {
  for (const auto jump : {hours(24), hours(24 * 365)}) {
    observer_.execute(
        "DELETE FROM task; UPDATE q_lock_table SET defer_until = NULL, defer_key = NULL");
    set_clock(worker_.db, jump);
    held();
    set_clock(worker_.db, std::nullopt);
    EXPECT_EQ(bound_releases(observer_), 1U);
    EXPECT_EQ(number("SELECT defer_until BETWEEN UTC_TIMESTAMP(6) + INTERVAL 59 MINUTE AND"
                     " UTC_TIMESTAMP(6) + INTERVAL 1 HOUR AND expire_at <= UTC_TIMESTAMP(6)"
                     " FROM q_lock_table"),
              1U);
    EXPECT_FALSE(worker_.lease(partition_)) << "it is not taken for over";
    EXPECT_EQ(bound_releases(observer_), 0U);
  }
}

// S60: an operator who moves another task out of it sees it first.
TEST_F(HoldTest, FromAClockThatWasAheadLastsItsOwnTimeAfterAMove) {
  set_clock(worker_.db, hours(24));
  put_row(partition_, {1, 7}, "another");
  held();
  set_clock(worker_.db, std::nullopt);
  const QueueInfo other = make_queue("other", 1);
  const Mover mover(make_holder("test", "/"), queue_);
  const Waiting task{partition_, {1, 7}, 7, "t", false};
  ASSERT_EQ(mover.move(observer_, {&task, 1}, {other.queue_id, 0}).value_or(0), 1U);
  EXPECT_EQ(number("SELECT defer_until BETWEEN UTC_TIMESTAMP(6) + INTERVAL 59 MINUTE AND"
                   " UTC_TIMESTAMP(6) + INTERVAL 1 HOUR FROM q_lock_table WHERE queue_id = " +
                   std::to_string(queue_.queue_id)),
            1U);
}

TEST_F(HoldTest, LayoutHoldIsNotForATask) {
  held();
  observer_.execute("UPDATE q_lock_table SET defer_until = '9000-01-01 00:00:01', defer_key = 1");
  EXPECT_TRUE(LeaseStore::scout(observer_, std::vector{queue_.queue_id}).empty());
  EXPECT_FALSE(worker_.lease(partition_));
}

// An older Allot does not name the task: it releases with a new epoch and leaves an old name there.
TEST_F(HoldTest, HoldOfAnOlderVersionExpires) {
  held();
  observer_.execute("UPDATE q_lock_table SET epoch = epoch + 1, defer_key = 1");
  EXPECT_FALSE(waits_no_more());
  EXPECT_FALSE(worker_.lease(partition_));
}

}  // namespace
}  // namespace allot::queue
