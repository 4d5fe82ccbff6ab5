// SPDX-License-Identifier: Apache-2.0
// Workers without a process around them: finder and block loop with a real database.
// Rule: S15.
#include <algorithm>
#include <atomic>
#include <future>
#include <memory>
#include <optional>
#include <thread>

#include "db/worker/loop_fixture.h"
#include "peer/doorbell.h"
#include "support/eventually.h"
#include "worker/lease/hints.h"

namespace allot::worker {
namespace {

using std::chrono::milliseconds;
using support::eventually;

// Workers in separate threads that find work and do it, until destruction.
class Crowd {
 public:
  template <typename Make>
  Crowd(Make&& make, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) workers_.push_back(make());
  }
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;
  ~Crowd() {
    over_ = true;
    for (std::thread& thread : threads_) thread.join();
  }

  void start() {
    for (const auto& worker : workers_) {
      threads_.emplace_back([this, &worker = *worker] {
        while (!over_) {
          if (auto block = worker.find()) worker.work(std::move(*block));
        }
      });
    }
  }
  [[nodiscard]] std::uint64_t lock_waits() const { return sum(&ipc::Slot::lock_waits); }
  [[nodiscard]] std::uint64_t takeovers() const { return sum(&ipc::Slot::takeovers); }

 private:
  [[nodiscard]] std::uint64_t sum(std::atomic<std::uint64_t> ipc::Slot::*counter) const {
    std::uint64_t all = 0;
    for (const auto& worker : workers_) all += (worker->slot().*counter).load();
    return all;
  }

  std::vector<std::unique_ptr<LoopWorker>> workers_;
  std::vector<std::thread> threads_;
  std::atomic<bool> over_{false};
};

// A worker searches for work while another one, `in_hand`, cannot release its lease. Returns the
// number of tasks found until `over`.
std::uint64_t found_by(LoopWorker& other, const std::atomic<bool>& over) {
  std::uint64_t tasks = 0;
  while (!over) {
    auto block = other.find();
    if (!block) continue;
    tasks += block->tasks.size();
    other.work(std::move(*block));
  }
  return tasks;
}

// S76. The log may be read before its transaction is visible.
TEST_F(LoopTest, AnAnnouncedTaskIsLookedForUntilItIsVisible) {
  const auto one = worker();
  const auto time_of_polls = [&](int polls) {
    const Nanos began = mono_ns();
    for (int poll = 0; poll < polls; ++poll) EXPECT_FALSE(one->find());
    return mono_ns() - began;
  };
  ASSERT_TRUE(eventually([&] { return time_of_polls(1) > 500 * kMilli; })) << "an idle worker";
  EXPECT_TRUE(eventually([&] {
    peer::Ringer(*board_).announce({{queue_.queue_id, 1}});
    return time_of_polls(4) < 500 * kMilli;
  })) << "four polls of an idle worker take more than two seconds";
  put_now(0);
  EXPECT_TRUE(eventually([&] { return one->find().has_value(); }));
}

// S19. One task always runs: otherwise a late lease would run none.
TEST_F(LoopTest, ALeaseEndsWhenItsTimeIsOver) {
  config_.block_seconds = milliseconds(0);
  config_.block_size = 4;
  put_tasks(0, 10);
  const auto mine = worker();
  for (const char* left : {"9", "8"}) {
    std::optional<queue::Block> block;
    ASSERT_TRUE(eventually([&] { return (block = mine->find()).has_value(); }));
    mine->work(std::move(*block));
    EXPECT_EQ(tasks_left(), left);
    EXPECT_EQ(value("SELECT state FROM q_lock_table WHERE partition_no = 0"), "FREE");
  }
}

// A scout does not see a task submitted to a leased partition: the holder of the lease fetches
// again after a ring.
TEST_F(LoopTest, TaskSubmittedDuringALeaseRunsInIt) {
  config_.block_seconds = std::chrono::minutes(10);
  put_tasks(0, 1);
  auto one = worker();
  auto block = one->find();
  ASSERT_TRUE(block && block->tasks.size() == 1);
  const auto submit_behind = [&](const std::string& key) {
    put_tasks(1, 1);
    db_.execute("UPDATE task SET partition_no = 0, run_key = " + key + " WHERE partition_no = 1");
  };
  submit_behind("2");
  one->work(std::move(*block));
  EXPECT_EQ(tasks_left(), "1") << "the bell did not ring";

  ASSERT_TRUE(eventually([&] { return (block = one->find()).has_value(); }));
  submit_behind("3");
  peer::Ringer(*board_).ring({{queue_.queue_id, 1}});
  const std::string epoch = value("SELECT epoch FROM q_lock_table WHERE partition_no = 0");
  one->work(std::move(*block));
  EXPECT_EQ(tasks_left(), "0");
  EXPECT_EQ(value("SELECT epoch - " + epoch + " FROM q_lock_table WHERE partition_no = 0"), "1")
      << "it was released, and not leased again";
}

// An operator locks a task of the partition, for longer than a lease lasts.
TEST_F(LoopTest, LockedTaskDoesNotRepeatFinishedOnes) {
  put_tasks(0, 3);
  auto mine = worker();
  auto other = worker();
  auto block = mine->find();
  ASSERT_TRUE(block && block->tasks.size() == 3);
  db::Connection holding(options());
  holding.execute("BEGIN; SELECT * FROM task WHERE queue_id > 0 AND run_key = 2 FOR UPDATE");
  std::atomic<bool> over{false};
  auto found = std::async(std::launch::async, [&] { return found_by(*other, over); });
  auto worked = std::async(std::launch::async, [&] { mine->work(std::move(*block)); });
  EXPECT_EQ(worked.wait_for(kOwnTtl * 3 / 2), std::future_status::timeout);
  holding.execute("COMMIT");
  worked.get();
  over = true;
  EXPECT_EQ(found.get(), 0U);
  EXPECT_EQ(other->slot().takeovers, 0U);
  EXPECT_EQ(mine->slot().leases_lost, 0U);
  EXPECT_EQ(tasks_left(), "0");
  EXPECT_EQ(value("SELECT state FROM q_lock_table WHERE partition_no = 0"), "FREE");
}

// Then the lease cannot be renewed, but finished tasks leave the queue.
TEST_F(LoopTest, LockedLeaseDoesNotRepeatFinishedTasks) {
  put_tasks(0, 3);
  auto mine = worker();
  auto block = mine->find();
  ASSERT_TRUE(block && block->tasks.size() == 3);
  db::Connection holding(options());
  holding.execute(
      "BEGIN; SELECT * FROM q_lock_table WHERE queue_id > 0 AND partition_no = 0 FOR UPDATE");
  auto worked = std::async(std::launch::async, [&] { mine->work(std::move(*block)); });
  EXPECT_TRUE(eventually([&] { return tasks_left() == "0"; }));
  EXPECT_EQ(worked.wait_for(milliseconds(0)), std::future_status::timeout);
  holding.execute("COMMIT");
  worked.get();
  EXPECT_EQ(mine->slot().leases_lost, 0U);
  EXPECT_EQ(mine->slot().finished_count, 0U);
  EXPECT_EQ(value("SELECT state FROM q_lock_table WHERE partition_no = 0"), "FREE");
}

// The server executes the release, and its reply is lost.
TEST_F(LoopTest, AReleaseWhoseReplyIsLostLosesNoLease) {
  put_tasks(0, 3);
  auto mine = worker();
  auto block = mine->find();
  ASSERT_TRUE(block && block->tasks.size() == 3);
  std::future<void> worked;
  {
    const support::Database::Stall stall(support::Database::shared());
    worked = std::async(std::launch::async, [&] { mine->work(std::move(*block)); });
    EXPECT_EQ(worked.wait_for(milliseconds(2'500)), std::future_status::timeout);
  }
  worked.get();
  EXPECT_EQ(mine->slot().leases_lost, 0U);
  EXPECT_EQ(tasks_left(), "0");
  EXPECT_EQ(value("SELECT state FROM q_lock_table WHERE partition_no = 0"), "FREE");
}

// S7: a task that kills the host again affects no other recorded attempt.
TEST_F(LoopTest, ChargedTasksRunOneByOneInCarefulMode) {
  const queue::LeaseStore lost(queue::make_holder("lost", "/"), kTtl);
  for (const std::uint32_t number : {0U, 1U}) {
    put_tasks(number, 5, "test.nap");
    ASSERT_TRUE(lost.lease(db_, partition(number), {}));
  }
  db_.execute("UPDATE task SET payload = '50', attempt = 1 WHERE queue_id > 0");
  Crowd crowd([&] { return worker(); }, 2);
  crowd.start();
  std::uint64_t most = 0;
  EXPECT_TRUE(eventually([&] {
    most = std::max<std::uint64_t>(most, std::stoull(value("SELECT COUNT(*) FROM task_attempt")));
    return tasks_left() == "0";
  }));
  EXPECT_EQ(crowd.takeovers(), 2U);
  EXPECT_LE(most, 1U) << "number of attempts written at the same time";
}

// Its neighbours have finished. If it kills the host, no process is left to record that.
TEST_F(LoopTest, FinishedTasksAreWrittenBeforeACarefulRun) {
  const support::TempDir folder;
  put_tasks(0, 2);
  db_.execute("UPDATE task SET flags = 1, type = 'test.gate', payload = 'ok " + (folder / "gate") +
              "' WHERE queue_id > 0 AND run_key = 2");
  auto mine = worker();
  auto block = mine->find();
  ASSERT_TRUE(block && block->tasks.size() == 2);
  auto worked = std::async(std::launch::async, [&] { mine->work(std::move(*block)); });
  EXPECT_TRUE(eventually([&] { return value("SELECT COUNT(*) FROM task_attempt") == "1"; }));
  EXPECT_EQ(value("SELECT GROUP_CONCAT(run_key) FROM task"), "2");
  (void)folder.write("gate", "");
  worked.get();
  EXPECT_EQ(tasks_left(), "0");
}

// The detach has released the partition, which is not a loss.
TEST_F(LoopTest, ADetachEndsTheBlockAndLosesNoLease) {
  config_.detach_after = milliseconds(1);
  const support::TempDir folder;
  put_tasks(0, 3, "test.gate");
  db_.execute("UPDATE task SET payload = 'success " + (folder / "gate") + "' WHERE queue_id > 0");
  auto mine = worker();
  auto block = mine->find();
  ASSERT_TRUE(block && block->tasks.size() == 3);
  const std::string epoch = value("SELECT epoch FROM q_lock_table WHERE partition_no = 0");
  auto worked = std::async(std::launch::async, [&] { mine->work(std::move(*block)); });
  EXPECT_TRUE(eventually([&] { return value("SELECT COUNT(*) FROM task_running") == "1"; }));
  (void)folder.write("gate", "");
  worked.get();
  EXPECT_EQ(mine->slot().tasks_done, 1U);
  EXPECT_EQ(tasks_left(), "2") << "the next holder of the partition runs the others";
  EXPECT_EQ(mine->slot().leases_lost, 0U);
  EXPECT_EQ(mine->slot().lease_held, 0U);
  EXPECT_EQ(value("SELECT CONCAT(state, ' ', epoch - " + epoch +
                  ") FROM q_lock_table WHERE partition_no = 0"),
            "FREE 1");
}

// The database's clock is set back by an hour, as seen by this worker.
TEST_F(LoopTest, TaskDueBeforeTheClockWasSetBackIsFound) {
  const auto mine = worker();
  put_tasks(0, 1);
  const auto drained = [&] {
    if (auto block = mine->find()) mine->work(std::move(*block));
    return tasks_left() == "0";
  };
  ASSERT_TRUE(eventually(drained));
  put_now(0);
  put_now(1);
  // The clock of a session stops once it is set, so it is set again before each poll.
  EXPECT_TRUE(eventually([&] {
    const std::string clock = value("SELECT UNIX_TIMESTAMP(UTC_TIMESTAMP(6)) - 3600");
    mine->session().call(
        [&](db::Connection& db) { return db.execute("SET timestamp = " + clock).size(); });
    return drained();
  }));
}

// Eight workers, while the lease of one of two partitions is locked for 3 s.
TEST_F(LoopTest, ALockedPartitionDelaysNoOther) {
  put_tasks(0, 1);
  Crowd crowd([&] { return worker(); }, 8);
  db::Connection holding(options());
  holding.execute(
      "BEGIN; SELECT * FROM q_lock_table WHERE queue_id > 0 AND partition_no = 0 FOR UPDATE");
  const Nanos began = boot_ns();
  crowd.start();
  std::uint64_t rounds = 0;
  while (boot_ns() - began < 3 * kSecond) {
    put_tasks(1, 10);
    ASSERT_TRUE(eventually([&] { return tasks_left() == "1"; })) << "round " << rounds;
    ++rounds;
  }
  EXPECT_EQ(crowd.lock_waits(), 0U);
  EXPECT_EQ(tasks_left(), "1");
  holding.execute("COMMIT");
  EXPECT_TRUE(eventually([&] { return tasks_left() == "0"; }));
}

// A host is lost, and the remaining workers are overloaded (S13).
TEST_F(LoopTest, ALostLeaseIsTakenOverUnderLoad) {
  put_tasks(0, 5);
  const queue::LeaseStore lost(queue::make_holder("lost", "/"), kTtl);
  ASSERT_TRUE(lost.lease(db_, partition(0), {}));
  for (const std::uint32_t busy : {1U, 2U, 3U}) put_tasks(busy, 5'000, "test.nap");  // 15 s for two
  Crowd crowd([&] { return worker(); }, 2);
  crowd.start();
  EXPECT_TRUE(eventually([&] { return crowd.takeovers() == 1; }));
  // A lease and a second are a seventh of their work. This work measures the time, because any
  // delay of the machine affects it as well.
  EXPECT_GT(std::stoull(tasks_left()), 10'000U) << "it was late, or they were not busy";
  EXPECT_TRUE(
      eventually([&] { return value("SELECT COUNT(*) FROM task WHERE partition_no = 0") == "0"; }));
}

// Each poll has a hint that leads to work: nothing behind the hints is reached (S13).
TEST_F(LoopTest, ALostLeaseIsTakenOverBeforeAHintIsFollowed) {
  const queue::LeaseStore lost(queue::make_holder("lost", "/"), kTtl);
  ASSERT_TRUE(lost.lease(db_, partition(0), {}));
  const auto mine = worker();
  const ipc::Hint work = make_hint(queue_.queue_id, 1);
  std::uint64_t idle = 0;
  EXPECT_TRUE(eventually([&] {
    put_now(1);
    publish_hints(board_->pools[0], &work, 1);
    if (auto block = mine->find()) {
      mine->work(std::move(*block));
    } else {
      ++idle;
    }
    return mine->slot().takeovers == 1;
  }));
  EXPECT_EQ(idle, 0U) << "without work it takes over in either order";
}

// It is tried again soon, and does not count as newly seen.
TEST_F(LoopTest, ALostLeaseThatIsLockedIsTakenOverOnceItIsNot) {
  const queue::LeaseStore lost(queue::make_holder("lost", "/"), kTtl);
  ASSERT_TRUE(lost.lease(db_, partition(0), {}));
  db::Connection holding(options());
  holding.execute(
      "BEGIN; SELECT * FROM q_lock_table WHERE queue_id > 0 AND partition_no = 0 FOR UPDATE");
  Crowd crowd([&] { return worker(); }, 1);
  crowd.start();
  const auto taken = [&] { return crowd.takeovers() == 1; };
  EXPECT_FALSE(eventually(taken, std::chrono::seconds(3)));
  holding.execute("COMMIT");
  EXPECT_TRUE(eventually(taken));
  EXPECT_EQ(crowd.lock_waits(), 0U);
}

}  // namespace
}  // namespace allot::worker
