// SPDX-License-Identifier: Apache-2.0
// Partition of a task, refused tasks, and the deadline for a task's start.
#include "queue/submit/placement.h"

#include <gtest/gtest.h>

#include <future>
#include <set>

#include "db/queue/fixture.h"
#include "queue/operate/resize.h"
#include "queue/submit/submit.h"

namespace allot::queue {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::seconds;

class PlacementTest : public QueueTest {
 protected:
  QueueInfo make(const QueueShape& shape) { return ensure_queue(observer_, "placed", shape); }

  static Submission task(const QueueInfo& queue, const std::string& key,
                         const std::string& payload = "x") {
    Submission task{queue, "t", payload, {}};
    task.options.partition_key = key;
    return task;
  }
  std::uint32_t partition_of(const QueueInfo& queue, const std::string& key) {
    const std::vector<Submission> one{task(queue, key)};
    return submit(worker_.db, one).at(0).id.partition.partition_no;
  }
};

TEST_F(PlacementTest, AQueueKeepsTheShapeThatItWasMadeWith) {
  const QueueShape shape{8, Placement::kLimited, 3};
  EXPECT_EQ(make(shape).shape, shape);
  EXPECT_EQ(make({4}).shape, shape);
  EXPECT_EQ(find_queue(observer_, "placed")->shape, shape);
  EXPECT_EQ(text_of(shape), "8 partitions, limited to 3 of a key");
}

// A submitter in SQL uses CRC32().
TEST_F(PlacementTest, AKeyOfAnOrderedQueueHasThePartitionThatSqlComputes) {
  const QueueInfo queue = make({16, Placement::kOrdered});
  std::set<std::uint32_t> used;
  for (const std::string& key :
       {std::string("a"), std::string("user-4711"), std::string("\0\xff'", 3), std::string("ä"),
        std::string(255, 'k'), std::string("b"), std::string("c"), std::string("d")}) {
    const std::uint32_t at = partition_of(queue, key);
    EXPECT_EQ(number("SELECT CRC32(_binary" + db::Statement::quoted(key) + ") % 16"), at);
    EXPECT_EQ(partition_of(queue, key), at);
    used.insert(at);
  }
  EXPECT_GT(used.size(), 3U);
}

TEST_F(PlacementTest, ABatchKeepsTheOrderOfEachKey) {
  const QueueInfo queue = make({4, Placement::kOrdered});
  for (int batch = 0; batch < 2; ++batch) {
    std::vector<Submission> tasks;
    for (int i = 0; i < 2'500; ++i) {
      tasks.push_back(task(queue, "k" + std::to_string(i % 7), std::to_string(batch * 2'500 + i)));
    }
    submit(worker_.db, tasks);
  }
  EXPECT_EQ(number("SELECT COUNT(*) FROM (SELECT CAST(payload AS UNSIGNED) AS n,"
                   " LAG(CAST(payload AS UNSIGNED)) OVER (PARTITION BY partition_no,"
                   " payload DIV 2500, payload % 7 ORDER BY run_key) AS n_before"
                   " FROM task) AS each_task WHERE n < n_before"),
            0U);
  EXPECT_EQ(number("SELECT MAX(run_key) FROM task WHERE payload < 2500 + 0") <
                number("SELECT MIN(run_key) FROM task WHERE payload >= 2500 + 0"),
            true);
}

TEST_F(PlacementTest, AKeyOfALimitedQueueHasAsManyPartitionsAsItMayRun) {
  const QueueInfo queue = make({8, Placement::kLimited, 3});
  for (const std::string key : {"a", "b", "c"}) {
    std::map<std::uint32_t, int> used;
    std::vector<Submission> tasks(30, task(queue, key));
    for (const Submitted& one : submit(worker_.db, tasks)) ++used[one.id.partition.partition_no];
    for (int i = 0; i < 30; ++i) ++used[partition_of(queue, key)];
    EXPECT_EQ(used.size(), 3U) << key;
    for (const auto& [at, count] : used) EXPECT_GE(count, 10) << "spread over them";
  }
}

TEST_F(PlacementTest, EachKeyOfAFairQueueHasAPartitionOfItsOwnWhileThereAreEnough) {
  const QueueInfo queue = make({3, Placement::kFair});
  std::map<std::string, std::uint32_t> at;
  for (const std::string key : {"a", "b", "c"}) {
    at[key] = partition_of(queue, key);
    EXPECT_EQ(partition_of(queue, key), at[key]);
  }
  EXPECT_EQ((std::set{at["a"], at["b"], at["c"]}).size(), 3U);
  // All three have tasks: a fourth key has to share.
  partition_of(queue, "d");
  EXPECT_EQ(partition_of(queue, "a"), at["a"]) << "a key in use keeps its partition";
  EXPECT_EQ(number("SELECT COUNT(*) FROM fair_partition WHERE partition_key > ''"), 4U);
  // A key without tasks makes room.
  observer_.execute("DELETE FROM task WHERE partition_no = " + std::to_string(at["b"]));
  EXPECT_EQ(partition_of(queue, "e"), at["b"]);
}

// A submitter that saw such a queue could not choose a partition.
TEST_F(PlacementTest, QueueWithoutPartitionsIsInvisible) {
  const std::string next = std::to_string(make({1}).queue_id + 1);
  db::Connection other = connect();
  other.execute(
      "BEGIN; INSERT INTO q_lock_table (queue_id, partition_no, expire_at)"
      " VALUES (" +
      next + ", 0, UTC_TIMESTAMP(6))");
  auto made = std::async(std::launch::async, [&] {
    db::Connection own = connect();
    return ensure_queue(own, "late", {2, Placement::kFair});
  });
  ASSERT_TRUE(lock_waits(1)) << "its partitions wait for that row";
  EXPECT_FALSE(find_queue(observer_, "late"));
  other.execute("ROLLBACK");
  EXPECT_EQ(std::to_string(made.get().queue_id), next);
  EXPECT_EQ(partition_of(*find_queue(observer_, "late"), "k"), 0U);
}

TEST_F(PlacementTest, AFairQueueWhoseLeaseRowsWereDeletedRefusesByName) {
  const QueueInfo queue = make({2, Placement::kFair});
  observer_.execute("DELETE FROM q_lock_table WHERE queue_id = " + std::to_string(queue.queue_id));
  try {
    partition_of(queue, "k");
    FAIL() << "it has no partition";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("queue 'placed' has no rows in q_lock_table"),
              std::string::npos)
        << error.what();
  }
  EXPECT_EQ(make({2, Placement::kFair}).queue_id, queue.queue_id)
      << "as the start of a daemon does";
  EXPECT_EQ(partition_of(queue, "k"), 0U);
}

// S17. A submitter that does not know of the resize puts its tasks into partitions that workers
// still process.
TEST_F(PlacementTest, AKeyOfAFairQueueLeavesAPartitionThatAResizeTakesAway) {
  const QueueInfo before = make({4, Placement::kFair});
  std::map<std::string, std::uint32_t> at;
  for (const std::string key : {"a", "b", "c", "d"}) at[key] = partition_of(before, key);
  resize(observer_, before, 2);
  const QueueInfo after = *find_queue(observer_, "placed");
  ASSERT_EQ(after.partitions(), 2U);
  for (const auto& [key, place] : at) {
    const std::uint32_t now = partition_of(after, key);
    EXPECT_LT(now, 2U) << key;
    EXPECT_EQ(partition_of(after, key), now) << key;
    EXPECT_EQ(partition_of(before, key), now) << key;
    if (place < 2) {
      EXPECT_EQ(now, place) << "other keys do not move: " << key;
    }
  }
  // A quiet key in a retired partition is not an obstacle.
  observer_.execute("UPDATE fair_partition SET partition_no = 3 WHERE partition_key IN ('c', 'd')");
  observer_.execute("DELETE FROM task");
  const std::set<std::uint32_t> both{partition_of(after, "c"), partition_of(after, "e")};
  EXPECT_EQ(both, (std::set<std::uint32_t>{0, 1}));
}

TEST_F(PlacementTest, KeysThatComeTogetherAreGivenDifferentPartitions) {
  constexpr std::uint32_t kKeys = 8;
  const QueueInfo queue = make({kKeys, Placement::kFair});
  std::vector<std::future<std::uint32_t>> claims;
  for (std::uint32_t i = 0; i < 2 * kKeys; ++i) {
    claims.push_back(std::async(std::launch::async, [&, i] {
      db::Connection own = connect();
      const std::vector<Submission> one{task(queue, "k" + std::to_string(i % kKeys))};
      return submit(own, one).at(0).id.partition.partition_no;
    }));
  }
  std::map<std::uint32_t, std::set<std::uint32_t>> keys_at;
  for (std::uint32_t i = 0; i < 2 * kKeys; ++i) keys_at[claims[i].get()].insert(i % kKeys);
  EXPECT_EQ(keys_at.size(), kKeys);
  for (const auto& [at, keys] : keys_at) EXPECT_EQ(keys.size(), 1U) << at;
}

struct Refusal {
  Placement placement = Placement::kSpread;
  SubmitOptions options{};
  const char* why = "";
};

TEST_F(PlacementTest, OptionsThatBreakTheOrderAreRefused) {
  using P = Placement;
  const Moment later = std::chrono::sys_days(std::chrono::year(2100) / 1 / 1);
  const Refusal refusals[] = {
      {P::kSpread, {.partition_key = "k"}, "partition_key: queue 'p' is neither ordered nor"},
      {P::kOrdered, {}, "queue 'p' is ordered: its tasks need a partition_key"},
      {P::kLimited, {}, "queue 'p' is limited: its tasks need a partition_key"},
      {P::kFair, {}, "queue 'p' is fair: its tasks need a partition_key"},
      {P::kOrdered, {.prio = 0, .partition_key = "k"}, "prio would break the order"},
      {P::kOrdered, {.delay = seconds(1), .partition_key = "k"}, "delay would break"},
      {P::kOrdered, {.run_at = later, .partition_key = "k"}, "run_at would break"},
      {P::kOrdered, {.unique_key = "u", .partition_key = "k"}, "unique_key would break"},
      {P::kFair, {.partition_key = ""}, "partition_key of 0 bytes"},
      {P::kFair, {.partition_key = std::string(256, 'k')}, "partition_key of 256 bytes"},
      {P::kSpread, {.expires_in = microseconds(-1)}, "expires_in of -1 microseconds"},
      {P::kSpread, {.delay = seconds(2), .expires_in = seconds(1)}, "expires before it is due"},
      {P::kSpread, {.run_at = later, .expires_at = later}, "expires before it is due"},
      {P::kSpread, {.expires_in = seconds(1), .expires_at = later}, "expires_in and expires_at"},
      {P::kSpread, {.expires_at = kLastRunAt}, "expires_at: the year 2150"},
  };
  for (const Refusal& refusal : refusals) {
    try {
      validate({QueueInfo{1, "p", {4, refusal.placement, 1}}, "t", "x", refusal.options});
      ADD_FAILURE() << refusal.why;
    } catch (const Error& error) {
      EXPECT_EQ(error.exit_code(), kExitBadInput);
      EXPECT_NE(std::string(error.what()).find(refusal.why), std::string::npos) << error.what();
    }
  }
}

TEST_F(PlacementTest, AFetchTellsHowLongATaskMayStillWait) {
  const Moment past = std::chrono::sys_days(std::chrono::year(2025) / 6 / 1);
  const Moment before_all = std::chrono::sys_days(std::chrono::year(2024) / 6 / 1);
  for (const SubmitOptions& options :
       {SubmitOptions{}, SubmitOptions{.expires_in = hours(1)}, SubmitOptions{.expires_at = past},
        SubmitOptions{.expires_at = before_all},
        SubmitOptions{.unique_key = "u", .expires_in = hours(1)}}) {
    const std::vector<Submission> one{{queue_, "t", "x", options}};
    submit(worker_.db, one);
  }
  const Block block = must_lease();
  ASSERT_EQ(block.tasks.size(), 5U);
  EXPECT_FALSE(block.tasks[0].expires_in);
  EXPECT_GT(*block.tasks[1].expires_in, hours(1) - seconds(60));
  EXPECT_LE(*block.tasks[1].expires_in, hours(1));
  EXPECT_EQ(block.tasks[2].expires_in, microseconds(0));
  EXPECT_EQ(block.tasks[3].expires_in, microseconds(0));
  EXPECT_GT(*block.tasks[4].expires_in, hours(1) - seconds(60));
}

// S16: the next holder of the partition continues at this place, and not before its time.
TEST_F(PlacementTest, ADeferredPartitionIsNotLeasedBeforeItsTime) {
  const auto ids = put(2);
  Block block = must_lease();
  ASSERT_EQ(worker_.tasks.charge(worker_.db, fence(block.lease, block.tasks[0]), 1, kFailure,
                                 Then::kRelease, hours(1)),
            Fenced::kWritten);
  EXPECT_FALSE(worker_.lease(partition_));
  EXPECT_TRUE(LeaseStore::scout(observer_, std::vector{queue_.queue_id}).empty());
  observer_.execute("UPDATE q_lock_table SET defer_until = UTC_TIMESTAMP(6)");
  EXPECT_EQ(LeaseStore::scout(observer_, std::vector{queue_.queue_id}).size(), 1U);
  block = must_lease();
  ASSERT_EQ(block.tasks.size(), 2U);
  EXPECT_EQ(block.tasks[0].key.run_key, ids[0].first_key);
  EXPECT_EQ(block.tasks[0].attempt, 1U);
  // A release without a hold removes the old one.
  ASSERT_TRUE(worker_.leases.release(worker_.db, block.lease));
  EXPECT_EQ(number("SELECT defer_until IS NULL FROM q_lock_table"), 1U);
}

}  // namespace
}  // namespace allot::queue
