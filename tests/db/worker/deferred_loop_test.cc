// SPDX-License-Identifier: Apache-2.0
// S66: workers that have a handler for tasks put back by another instance.
#include <vector>

#include "db/worker/loop_fixture.h"
#include "queue/operate/limits.h"
#include "support/eventually.h"

namespace allot::worker {
namespace {

using support::eventually;

class DeferredLoopTest : public LoopTest {
 protected:
  // Acts like an instance that does not know the type of its tasks: all of partition 0.
  void put_back() {
    auto block = others_.leases.lease(db_, partition(0), {});
    ASSERT_TRUE(block && !block->tasks.empty());
    std::vector<queue::TaskKey> keys;
    for (const queue::Task& task : block->tasks) keys.push_back(task.key);
    ASSERT_EQ(queue::defer(db_, block->lease, keys), queue::Fenced::kWritten);
    ASSERT_TRUE(others_.leases.release(db_, block->lease));
  }
  queue::Block must_find(LoopWorker& worker) {
    std::optional<queue::Block> block;
    EXPECT_TRUE(eventually([&] { return (block = worker.find()).has_value(); }));
    return block.value_or(queue::Block{});
  }
  std::string ids_left() {
    return value("SELECT GROUP_CONCAT(COALESCE(first_key, run_key) ORDER BY run_key) FROM task");
  }

  queue::Stores others_{std::chrono::seconds(30)};
};

TEST_F(DeferredLoopTest, OneLeaseCallsForwardAndRunsAll) {
  config_.block_size = 4;
  config_.block_seconds = std::chrono::minutes(1);
  put_tasks(0, 10);
  put_back();
  auto mine = worker();
  mine->work(must_find(*mine));
  EXPECT_EQ(tasks_left(), "0");
  EXPECT_EQ(mine->slot().tasks_done, 10U);
  EXPECT_EQ(value("SELECT COUNT(*) FROM deferred_type"), "0");
}

// S7: the head of the partition runs. In a lease with time for one task that is the first of those
// that were put back, although another one had been fetched.
TEST_F(DeferredLoopTest, CalledTaskRunsBeforeFetchedOnes) {
  config_.block_seconds = std::chrono::milliseconds(0);
  put_tasks(0, 2);
  put_back();
  put_now(0);
  auto mine = worker();
  auto block = must_find(*mine);
  ASSERT_EQ(block.tasks.size(), 1U);
  mine->work(std::move(block));
  EXPECT_TRUE(ids_left().starts_with("2,")) << ids_left();
}

TEST_F(DeferredLoopTest, AWorkerThatDoesNotKnowTheTypeEitherLeavesItAlone) {
  put_tasks(0, 2, "unknown.type");
  put_back();
  auto mine = worker();
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(mine->find());
  EXPECT_EQ(value("SELECT state FROM q_lock_table WHERE partition_no = 0"), "FREE");
}

// Each start is charged, and tasks called forward have their starts in the same lease.
TEST_F(DeferredLoopTest, InAQueueWithARate) {
  put_tasks(0, 5);
  put_back();
  queue::set_rate(db_, queue_, queue::read_rate("100", "40"));
  auto mine = worker();
  EXPECT_TRUE(eventually([&] {
    if (auto block = mine->find()) mine->work(std::move(*block));
    return tasks_left() == "0";
  }));
  EXPECT_EQ(mine->slot().tasks_done, 5U);
}

}  // namespace
}  // namespace allot::worker
