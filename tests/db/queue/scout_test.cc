// SPDX-License-Identifier: Apache-2.0
#include "db/queue/fixture.h"
#include "queue/operate/limits.h"

namespace allot::queue {
namespace {

class ScoutTest : public QueueTest {
 protected:
  static constexpr std::uint32_t kPartitions = 6;

  ScoutTest() {
    // Partition i was released before partition i + 1.
    for (std::uint32_t no = 0; no < kPartitions; ++no) set_row(no, released_ago(60 - no));
  }
  static std::string released_ago(std::uint32_t seconds_ago) {
    return "expire_at = UTC_TIMESTAMP(6) - INTERVAL " + std::to_string(seconds_ago) + " SECOND";
  }
  void set_row(std::uint32_t no, const std::string& assignment) {
    observer_.execute("UPDATE q_lock_table SET " + assignment + " WHERE queue_id = " +
                      std::to_string(wide_.queue_id) + " AND partition_no = " + std::to_string(no));
  }
  void put_due(std::uint32_t no, std::uint32_t prio, int due_in_seconds = -1) {
    observer_.execute(
        "INSERT INTO task (queue_id, partition_no, prio, run_key, type, payload) VALUES (" +
        std::to_string(wide_.queue_id) + "," + std::to_string(no) + "," + std::to_string(prio) +
        ", TIMESTAMPDIFF(MICROSECOND, '2025-01-01', UTC_TIMESTAMP(6) + INTERVAL " +
        std::to_string(due_in_seconds) + " SECOND) << 12, 't', '')");
  }
  // Numbers of the partitions that the scout names, in its order.
  std::string found() {
    std::string numbers;
    for (const Partition& at : LeaseStore::scout(observer_, std::vector{wide_.queue_id})) {
      EXPECT_EQ(at.queue_id, wide_.queue_id);
      numbers += std::to_string(at.partition_no);
    }
    return numbers;
  }

  QueueInfo wide_ = make_queue("wide", kPartitions);
};

TEST_F(ScoutTest, NothingWaits) {
  EXPECT_EQ(found(), "");
}

TEST_F(ScoutTest, PartitionsOfAPausedQueueAreLeftOut) {
  put_due(2, 1);
  pause(observer_, queue_, "another one");
  EXPECT_EQ(found(), "2");
  pause(observer_, wide_, "");
  EXPECT_EQ(found(), "");
  EXPECT_TRUE(resume(observer_, wide_));
  EXPECT_EQ(found(), "2");
}

TEST_F(ScoutTest, AllClassesCount) {
  for (std::uint32_t prio = 0; prio < kPrioClasses; ++prio) put_due(prio, prio);
  EXPECT_EQ(found(), "0123");
}

TEST_F(ScoutTest, TheLongestReleasedComesFirst) {
  for (const std::uint32_t no : {5U, 1U, 3U}) put_due(no, 1);
  EXPECT_EQ(found(), "135");
  set_row(1, released_ago(0));
  EXPECT_EQ(found(), "351");
  // A real release goes to the end as well (S13).
  Worker worker(connect());
  const auto block = worker.lease({wide_.queue_id, 3});
  ASSERT_TRUE(block && worker.leases.release(worker.db, block->lease));
  EXPECT_EQ(found(), "513");
}

TEST_F(ScoutTest, OnlyWhatIsDueNow) {
  put_due(0, 1, 3600);
  put_due(1, 0, 3600);
  put_due(1, 2, -1);
  EXPECT_EQ(found(), "1") << "a task of tomorrow in a higher class hides nothing";
}

TEST_F(ScoutTest, TakenAndHeldPartitionsAreLeftOut) {
  for (const std::uint32_t no : {0U, 1U, 2U}) put_due(no, 1);
  Worker worker(connect());
  ASSERT_TRUE(worker.lease({wide_.queue_id, 0}));
  set_row(1, "defer_until = UTC_TIMESTAMP(6) + INTERVAL 1 HOUR");
  EXPECT_EQ(found(), "2");
  set_row(1, "defer_until = UTC_TIMESTAMP(6) - INTERVAL 1 SECOND");
  EXPECT_EQ(found(), "12");
}

TEST_F(ScoutTest, OnlyTheNamedQueues) {
  put_due(0, 1);
  put(1);
  const auto count = [&](std::vector<std::uint32_t> queues) {
    return LeaseStore::scout(observer_, queues).size();
  };
  EXPECT_EQ(count({queue_.queue_id}), 1U);
  EXPECT_EQ(count({queue_.queue_id, wide_.queue_id}), 2U);
  EXPECT_EQ(count({wide_.queue_id + 1}), 0U);
  EXPECT_EQ(count({}), 0U);
}

TEST_F(ScoutTest, FoundPartitionsAreFreeAndHaveATask) {
  for (std::uint32_t no = 0; no < kPartitions; ++no) put_due(no, no % kPrioClasses);
  Worker worker(connect());
  for (const Partition& at : LeaseStore::scout(observer_, std::vector{wide_.queue_id})) {
    const auto block = worker.lease(at);
    ASSERT_TRUE(block);
    EXPECT_EQ(block->tasks.size(), 1U);
  }
  EXPECT_EQ(found(), "");
}

}  // namespace
}  // namespace allot::queue
