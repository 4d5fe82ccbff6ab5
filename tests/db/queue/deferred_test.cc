// SPDX-License-Identifier: Apache-2.0
// S65, S66: tasks that are put back because an instance has no handler for their type, and called
// forward by an instance that has one.
#include <algorithm>

#include "db/queue/fixture.h"

namespace allot::queue {
namespace {

class DeferredTest : public QueueTest {
 protected:
  // All tasks of the block, in any order.
  void put_back(const Block& block) {
    std::vector<TaskKey> keys;
    for (const Task& task : block.tasks) keys.push_back(task.key);
    std::reverse(keys.begin(), keys.end());
    ASSERT_EQ(defer(worker_.db, block.lease, keys), Fenced::kWritten);
  }
  // At most this number of each type and class. Returns the total.
  std::size_t call_all(const Lease& lease, std::uint32_t most = 100) {
    std::size_t called = 0;
    for (const DeferredType& type : deferred_types(worker_.db, partition_)) {
      const auto tasks = find_deferred(worker_.db, lease, type, most);
      EXPECT_EQ(call_forward(worker_.db, lease, type, tasks, tasks.size() == most),
                Fenced::kWritten);
      called += tasks.size();
    }
    return called;
  }
  std::vector<std::uint64_t> ids_due() {
    std::vector<std::uint64_t> ids;
    for (const Task& task : fetch(observer_, partition_, {})) ids.push_back(task.id_key());
    return ids;
  }
  std::vector<ScoutedType> scouted() {
    return LeaseStore::scout(observer_, std::vector{queue_.queue_id}, {}, {.deferred = true})
        .deferred;
  }
};

TEST_F(DeferredTest, EachTaskGetsItsPlaceInTheLineAgain) {
  put(5, 2);
  put(20, 0);
  const std::vector<std::uint64_t> before = ids_due();
  const Block block = must_lease();
  put_back(block);
  const std::vector<TaskId> later = put(1, 0);
  ASSERT_EQ(ids_due().size(), 1U);

  EXPECT_EQ(call_all(block.lease), 25U);
  std::vector<std::uint64_t> expected = before;
  expected.insert(expected.begin() + 20, later.front().first_key);
  EXPECT_EQ(ids_due(), expected);
  EXPECT_EQ(number("SELECT COUNT(*) FROM task WHERE flags <> 0 OR attempt <> 0"), 0U);
  EXPECT_EQ(number("SELECT COUNT(*) FROM deferred_type"), 0U);
  for (const std::uint64_t id : before) {
    EXPECT_EQ(
        number("SELECT COUNT(*) FROM task JOIN task_moved USING (queue_id, partition_no, prio,"
               " run_key) WHERE task_moved.first_key = " +
               std::to_string(id)),
        1U)
        << "its id still names it";
  }
}

TEST_F(DeferredTest, OnlyTheFirstOfManyAreCalled) {
  put(7);
  const std::vector<std::uint64_t> all = ids_due();
  const Block block = must_lease();
  put_back(block);
  for (const std::ptrdiff_t due : {3, 6, 7}) {
    EXPECT_GT(call_all(block.lease, 3), 0U);
    EXPECT_EQ(ids_due(), std::vector<std::uint64_t>(all.begin(), all.begin() + due));
  }
  EXPECT_EQ(number("SELECT COUNT(*) FROM deferred_type"), 0U);
}

// Two classes may contain the same key (S3), but one class may not: the place of a task is
// occupied.
TEST_F(DeferredTest, APlaceThatAnotherTaskHasIsNotTaken) {
  const TaskId id = put(1).front();
  const Block block = must_lease();
  put_back(block);
  put_row(partition_, {id.prio, id.first_key}, "another");
  EXPECT_EQ(call_all(block.lease), 1U);
  EXPECT_EQ(fetch(observer_, partition_, {}).size(), 2U);
}

// Neither tasks of other types, nor delayed ones of its own types.
TEST_F(DeferredTest, OthersStayWhereTheyAre) {
  put(4);
  observer_.execute("UPDATE task SET type = 'other' WHERE queue_id > 0 ORDER BY run_key LIMIT 2");
  const Block block = must_lease();
  put_back(block);
  put(1);
  observer_.execute(
      "UPDATE task SET run_key = run_key + (10000000 << 12) WHERE queue_id > 0 AND flags = 0");
  const auto types = deferred_types(worker_.db, partition_);
  ASSERT_EQ(types.size(), 2U);
  EXPECT_EQ(types[0].type, "other");
  const auto tasks = find_deferred(worker_.db, block.lease, types[1], 100);
  ASSERT_EQ(tasks.size(), 2U);
  ASSERT_EQ(call_forward(worker_.db, block.lease, types[1], tasks, false), Fenced::kWritten);
  EXPECT_EQ(ids_due().size(), 2U);
  EXPECT_EQ(value("SELECT GROUP_CONCAT(type) FROM deferred_type"), "other");
}

TEST_F(DeferredTest, ASecondCallAfterALostReplyChangesNothing) {
  put(3);
  const Block block = must_lease();
  put_back(block);
  const auto types = deferred_types(worker_.db, partition_);
  const auto tasks = find_deferred(worker_.db, block.lease, types.at(0), 100);
  ASSERT_EQ(call_forward(worker_.db, block.lease, types[0], tasks, false), Fenced::kWritten);
  const std::string once = all_as_text();
  EXPECT_EQ(call_forward(worker_.db, block.lease, types[0], tasks, false), Fenced::kWritten);
  EXPECT_EQ(all_as_text(), once);
}

// A scout sees only free partitions, and none of a paused queue.
TEST_F(DeferredTest, AScoutFindsTheTypesOfFreePartitions) {
  put(2);
  const Block block = must_lease();
  put_back(block);
  EXPECT_TRUE(scouted().empty()) << "it is leased";
  ASSERT_TRUE(worker_.leases.release(worker_.db, block.lease));
  ASSERT_EQ(scouted().size(), 1U);
  EXPECT_EQ(scouted()[0].partition, partition_);
  EXPECT_EQ(scouted()[0].type, "t");
  observer_.execute("INSERT INTO queue_pause (queue_id, paused_at, reason) VALUES (" +
                    std::to_string(queue_.queue_id) + ", UTC_TIMESTAMP(6), '')");
  EXPECT_TRUE(scouted().empty()) << "it is paused";
  observer_.execute(
      "DELETE FROM queue_pause; UPDATE deferred_type SET to_key = 4096 WHERE queue_id > 0");
  EXPECT_TRUE(scouted().empty()) << "all are due";
}

// S16: an ordered queue waits for its first task, except if a handler for that task is available.
TEST_F(DeferredTest, APartitionThatWaitsForAHandlerIsLeasedByWhoHasOne) {
  put(2);
  const Block block = must_lease();
  const TaskKey first = block.tasks.at(0).key;
  ASSERT_EQ(mark_unknown(worker_.db, block.lease, first), Fenced::kWritten);
  ASSERT_TRUE(ack_and_release(worker_.db, block.lease, {}, {std::chrono::seconds(30), first}));
  EXPECT_FALSE(worker_.lease(partition_)) << "it waits";
  EXPECT_EQ(scouted().size(), 1U);
  const auto taken =
      worker_.leases.lease(worker_.db, partition_, {}, Locked::kWait, Deferred::kLease);
  ASSERT_TRUE(taken);
  ASSERT_EQ(taken->tasks.size(), 2U);
  EXPECT_EQ(taken->tasks[0].key, first) << "in its place";
}

TEST_F(DeferredTest, APartitionThatWaitsForARetryIsNot) {
  put(2);
  const Block block = must_lease();
  const TaskKey first = block.tasks.at(0).key;
  ASSERT_TRUE(ack_and_release(worker_.db, block.lease, {}, {std::chrono::seconds(30), first}));
  EXPECT_FALSE(worker_.leases.lease(worker_.db, partition_, {}, Locked::kWait, Deferred::kLease));
}

TEST_F(DeferredTest, NotesOfWhatIsDueAreRemovedAfterAnHour) {
  put(1);
  const Block block = must_lease();
  put_back(block);
  EXPECT_FALSE(purge_deferred(observer_));
  EXPECT_EQ(number("SELECT COUNT(*) FROM deferred_type"), 1U);
  observer_.execute(
      "UPDATE deferred_type SET to_key = to_key - (3700000000 << 12) WHERE queue_id > 0");
  EXPECT_FALSE(purge_deferred(observer_));
  EXPECT_EQ(number("SELECT COUNT(*) FROM deferred_type"), 0U);
}

}  // namespace
}  // namespace allot::queue
