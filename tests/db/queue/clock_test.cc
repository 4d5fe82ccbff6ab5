// SPDX-License-Identifier: Apache-2.0
// The database's clock is set back by an hour. SET timestamp does that for one session.
// Rule: S15.
#include "db/queue/fixture.h"

namespace allot::queue {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;

class ClockTest : public QueueTest {
 protected:
  static void step_back(db::Connection& db) {
    db.execute("SET timestamp = UNIX_TIMESTAMP(UTC_TIMESTAMP(6)) - 3600");
  }
  static void step_forth(db::Connection& db) { db.execute("SET timestamp = DEFAULT"); }
  // Time of a worker that knows of a time ahead of the clock.
  HolderTime time(std::chrono::microseconds ahead) {
    return {LeaseStore::scout(worker_.db, {}, HolderTime{}).clock + ahead, boot_ns()};
  }
  FetchSpec spec(std::chrono::microseconds ahead) { return {.time = time(ahead)}; }
  // Leases like a worker that was active before the step.
  Block lease_an_hour_ahead() {
    Block block = must_lease(spec(hours(1)));
    block.lease.time = time(hours(1));
    return block;
  }
  std::vector<Partition> scout(std::chrono::microseconds ahead) {
    return LeaseStore::scout(worker_.db, std::vector{queue_.queue_id}, time(ahead)).found;
  }
  // Minutes from the stepped clock until the only task is due.
  std::int64_t due_in() {
    return std::stoll(support::value_of(
        worker_.db,
        "SELECT TIMESTAMPDIFF(SECOND, UTC_TIMESTAMP(6), '2025-01-01' + INTERVAL (run_key >> 12)"
        " MICROSECOND) FROM task"));
  }
};

// Tasks due before are found by a worker that remembers.
TEST_F(ClockTest, DueTasksStayDue) {
  put(2);
  step_back(worker_.db);
  EXPECT_TRUE(scout(hours(0)).empty());
  EXPECT_TRUE(worker_.lease(partition_)->tasks.empty());
  observer_.execute("UPDATE q_lock_table SET state = 'FREE'");
  EXPECT_EQ(scout(hours(1)).size(), 1U);
  EXPECT_EQ(worker_.lease(partition_, spec(hours(1)))->tasks.size(), 2U);
}

TEST_F(ClockTest, ALeaseAndAScoutTellTheTime) {
  const auto clock = must_lease().clock;
  EXPECT_LT(std::abs((LeaseStore::scout(observer_, {}, HolderTime{}).clock - clock).count()),
            10'000'000);
  step_back(worker_.db);
  EXPECT_LT(worker_.steal(partition_)->clock, clock - minutes(59));
}

// The delay counts by the time of the worker that sets it.
TEST_F(ClockTest, APauseStaysOne) {
  put(1);
  step_back(worker_.db);
  const Block block = lease_an_hour_ahead();
  const auto again = worker_.tasks.retry(worker_.db, fence(block.lease, block.tasks.at(0)), 1,
                                         minutes(10), kFailure);
  ASSERT_EQ(again, Fenced::kWritten);
  EXPECT_NEAR(static_cast<double>(due_in()), 70 * 60, 60);
  EXPECT_TRUE(fetch(worker_.db, partition_, spec(hours(1))).empty());
  EXPECT_EQ(fetch(worker_.db, partition_, spec(minutes(71))).size(), 1U);
}

// The clock was corrected during the lease.
TEST_F(ClockTest, ARetryDelayIsNotExtendedOnceTheClockIsRight) {
  put(1);
  step_back(worker_.db);
  const Block block = lease_an_hour_ahead();
  step_forth(worker_.db);
  ASSERT_EQ(worker_.tasks.retry(worker_.db, fence(block.lease, block.tasks.at(0)), 1, minutes(10),
                                kFailure),
            Fenced::kWritten);
  EXPECT_NEAR(static_cast<double>(due_in()), 10 * 60, 60);
}

// A worker that still believes in the later hour does not start a task that is due in half of one.
TEST_F(ClockTest, NothingBeginsEarlyOnceTheClockIsRight) {
  put(1);
  step_back(worker_.db);
  const HolderTime later = time(hours(1));
  step_forth(worker_.db);
  observer_.execute("UPDATE task SET run_key = run_key + ((1800 * 1000000) << 12)");
  EXPECT_TRUE(LeaseStore::scout(worker_.db, std::vector{queue_.queue_id}, later).found.empty());
  EXPECT_TRUE(worker_.lease(partition_, {.time = later})->tasks.empty());
}

TEST_F(ClockTest, ADetachedTaskAndADeferredPartitionAreNotDelayedEither) {
  put(2);
  step_back(worker_.db);
  const Block block = lease_an_hour_ahead();
  const Task& task = block.tasks.at(0);
  ASSERT_EQ(worker_.detached.detach(worker_.db, fence(block.lease, task), 1, {}, Then::kKeepLease),
            Fenced::kWritten);
  step_forth(worker_.db);
  observer_.execute("DELETE FROM task");
  const Fence detached = fence(block.lease, task).once_detached();
  ASSERT_EQ(Verbs().retry(worker_.db, detached, 1, minutes(10), kFailure), Fenced::kWritten);
  EXPECT_NEAR(static_cast<double>(due_in()), 10 * 60, 60);
  ASSERT_TRUE(ack_and_release(worker_.db, block.lease, {}, {minutes(10), task.key}));
  EXPECT_NEAR(
      static_cast<double>(number("SELECT TIMESTAMPDIFF(SECOND, UTC_TIMESTAMP(6), defer_until)"
                                 " FROM q_lock_table WHERE defer_until IS NOT NULL")),
      10 * 60, 60);
}

TEST_F(ClockTest, SoIsADeferral) {
  put(1);
  step_back(worker_.db);
  const Block block = lease_an_hour_ahead();
  ASSERT_EQ(defer(worker_.db, block.lease, {block.tasks.at(0).key}), Fenced::kWritten);
  EXPECT_NEAR(static_cast<double>(due_in()), 3630, 25);
}

// A hold of 300 ms from before the step does not last an hour, and one from after it lasts.
TEST_F(ClockTest, AHoldStaysOne) {
  put(1);
  const auto hold = [&](const Block& block, std::chrono::microseconds pause) {
    const auto landed = worker_.tasks.charge(worker_.db, fence(block.lease, block.tasks.at(0)), 1,
                                             kFailure, Then::kRelease, pause);
    EXPECT_EQ(landed, Fenced::kWritten);
  };
  hold(must_lease(), milliseconds(300));
  step_back(worker_.db);
  EXPECT_TRUE(scout(hours(0)).empty());
  EXPECT_EQ(scout(hours(1) + milliseconds(300)).size(), 1U);
  auto block = worker_.lease(partition_, spec(hours(1) + milliseconds(300)));
  ASSERT_TRUE(block);
  block->lease.time = time(hours(1));
  hold(*block, minutes(10));
  EXPECT_TRUE(scout(hours(1) + minutes(9)).empty());
  EXPECT_FALSE(worker_.lease(partition_, spec(hours(1) + minutes(9))));
  EXPECT_TRUE(worker_.lease(partition_, spec(hours(1) + minutes(11))));
}

TEST_F(ClockTest, TheTasksOfAKeyStayInOrder) {
  const QueueInfo ordered = ensure_queue(observer_, "ordered", {1, Placement::kOrdered});
  const auto submit_some = [&](const std::string& first) {
    std::vector<Submission> some(3, {ordered, "t", first, {}});
    for (std::size_t i = 0; i < some.size(); ++i) {
      some[i].payload += std::to_string(i);
      some[i].options.partition_key = "k";
    }
    const auto ids = ids_of(submit(worker_.db, some));
    for (std::size_t i = 0; i < some.size(); ++i) {
      EXPECT_EQ(
          value("SELECT payload FROM task WHERE run_key = " + std::to_string(ids.at(i).first_key)),
          some[i].payload);
    }
  };
  submit_some("a");
  step_back(worker_.db);
  submit_some("b");
  submit_some("c");
  std::string order;
  for (const Task& task : fetch(observer_, {ordered.queue_id, 0}, {})) {
    order += *task.payload + " ";
  }
  EXPECT_EQ(order, "a0 a1 a2 b0 b1 b2 c0 c1 c2 ");
}

}  // namespace
}  // namespace allot::queue
