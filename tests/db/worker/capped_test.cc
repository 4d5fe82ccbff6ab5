// SPDX-License-Identifier: Apache-2.0
// Queues of Fireworq's programs: they appear and disappear while a worker runs, and each has a
// limit of concurrent tasks (S51).
#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "db/worker/loop_fixture.h"
#include "db/worker/taker.h"
#include "peer/doorbell.h"
#include "plugins/side_output.h"
#include "queue/fireworq/definition.h"
#include "queue/operate/limits.h"
#include "queue/verbs/lease_store.h"
#include "support/eventually.h"
#include "worker/lease/hints.h"
#include "worker/lease/served_queues.h"

namespace allot::worker {
namespace {

using support::eventually;

constexpr std::size_t kThreads = 8;

class CappedTest : public OutputFile, public LoopTest {
 protected:
  CappedTest() : LoopTest(ALLOT_SIDE_FOLDER, {{"side", {{"output", output_}}}}) {}

  queue::QueueInfo make_queue(const std::string& name, std::uint32_t partitions,
                              std::uint32_t cap) {
    auto queue = queue::ensure_queue(db_, name, {partitions});
    db_.execute("INSERT INTO fireworq_queue (queue_id, name, polling_interval) VALUES (" +
                std::to_string(queue.queue_id) + ", '" + name + "', 200)");
    queue::set_cap(db_, queue, cap);
    queue.cap = cap;
    return queue;
  }
  void change(const queue::QueueInfo& queue, std::uint32_t partitions, std::uint32_t cap) {
    queue::make_partitions(db_, queue.queue_id, partitions);
    db_.execute("UPDATE queue SET partitions = " + std::to_string(partitions) +
                " WHERE queue_id = " + std::to_string(queue.queue_id));
    queue::set_cap(db_, queue, cap);
  }
  void put_tasks_of(const queue::QueueInfo& queue, std::uint32_t partition_no, std::uint64_t count,
                    int milliseconds = 20, std::uint64_t first = 1) {
    db_.execute("INSERT INTO task (queue_id, partition_no, prio, run_key, type, payload) SELECT " +
                std::to_string(queue.queue_id) + ", " + std::to_string(partition_no) +
                ", 1, seq, 'side.wait', CONCAT('t" + std::to_string(partition_no) + "x', seq, ' " +
                std::to_string(milliseconds) + "') FROM " +
                support::numbers(first, first + count - 1));
  }
  // As run_worker() makes them for a pool that serves queues made by programs.
  ServedQueues served() {
    const auto db = std::make_shared<db::Connection>(options());  // for a thread of its own
    return ServedQueues([this, db] {
      ServedQueues::Queues queues;
      for (queue::QueueInfo& one : queue::made_queues(*db)) {
        queues.push_back(std::make_shared<ServedQueue>(ServedQueue{std::move(one), &config_}));
      }
      return queues;
    });
  }
  std::unique_ptr<LoopWorker> capped_worker() {
    return std::make_unique<LoopWorker>(options(), served(), registry_, *board_, kThreads);
  }
  bool work_until_all_ended(LoopWorker& worker,
                            std::chrono::seconds most = std::chrono::seconds(60)) {
    return eventually(
        [&] {
          if (auto block = worker.find()) worker.work(std::move(*block));
          return value("SELECT (SELECT COUNT(*) FROM task) + COUNT(*) FROM task_running") == "0";
        },
        most);
  }
  std::uint32_t share(const queue::QueueInfo& queue, std::uint32_t partition_no,
                      std::uint32_t published = 64) {
    return queue::read_cap_part(db_, {queue.queue_id, partition_no}, published).most;
  }
  // A task that runs until open() is called.
  void put_gate(const queue::QueueInfo& queue) {
    db_.execute("INSERT INTO task (queue_id, partition_no, prio, run_key, type, payload) VALUES (" +
                std::to_string(queue.queue_id) + ", 0, 1, 0, 'side.gate', 'gate " + gate_ + "')");
  }
  void open() { std::ofstream(gate_).put('x'); }
  // True if this number of tasks has begun, while the gate is closed.
  bool begin(std::size_t most, std::chrono::milliseconds within = std::chrono::seconds(30)) {
    return eventually([&] { return side::begun(side::read_lines(output_)) >= most; }, within);
  }
  // A thread that runs the block found by the worker; the gate opens before it ends.
  class BackgroundWorker {
   public:
    BackgroundWorker(CappedTest& test, LoopWorker& worker) : test_(test) {
      std::optional<queue::Block> block;
      EXPECT_TRUE(eventually([&] { return (block = worker.find()).has_value(); }));
      if (block) thread_ = std::thread([&, at = std::move(*block)] { worker.work(at); });
    }
    BackgroundWorker(const BackgroundWorker&) = delete;
    BackgroundWorker& operator=(const BackgroundWorker&) = delete;
    ~BackgroundWorker() { end(); }
    void end() {
      test_.open();
      if (thread_.joinable()) thread_.join();
    }

   private:
    CappedTest& test_;
    std::thread thread_;
  };
  // Like a lease of another worker with this limit.
  void lease_elsewhere(const queue::QueueInfo& queue, std::uint32_t partition_no,
                       std::uint32_t block_size) {
    db_.execute("UPDATE q_lock_table SET state = 'LOCKED', block_size = " +
                std::to_string(block_size) + ", expire_at = UTC_TIMESTAMP(6) + INTERVAL 1 HOUR" +
                " WHERE queue_id = " + std::to_string(queue.queue_id) +
                " AND partition_no = " + std::to_string(partition_no));
  }

  const std::string gate_ = output_folder_ / "gate";
};

TEST(Share, AllTogetherAreTheWhole) {
  for (const std::uint32_t most : {1U, 2U, 63U, 64U, 65U, 128U, 1000U}) {
    const std::uint32_t partitions = queue::partitions_for(most);
    std::uint32_t sum = 0;
    for (std::uint32_t i = 0; i < partitions; ++i) {
      const std::uint32_t share = queue::share_of(most, partitions, i);
      EXPECT_LE(share, queue::kWorkersOfPartition);
      EXPECT_GE(share, 1U);
      sum += share;
    }
    EXPECT_EQ(sum, most);
    EXPECT_EQ(queue::share_of(most, partitions, partitions), 1U) << "one that is being emptied";
  }
  EXPECT_EQ(queue::share_of(0, 1, 0), 0U);
}

TEST_F(CappedTest, AShareIsWhatTheOtherLeasesLeave) {
  const auto queue = make_queue("a", 2, 65);
  EXPECT_EQ(share(queue, 0), 33U);
  EXPECT_EQ(share(queue, 1), 32U);
  lease_elsewhere(queue, 1, 32);
  EXPECT_EQ(share(queue, 0), 33U);
  EXPECT_EQ(share(queue, 0, 7), 7U) << "never more than the others read";
  change(queue, 1, 40);  // the other lease continues with its former share
  EXPECT_EQ(share(queue, 0), 8U);
  change(queue, 1, 30);
  EXPECT_EQ(share(queue, 0), 0U);
  change(queue, 1, 64);
  lease_elsewhere(queue, 0, 64);
  EXPECT_EQ(share(queue, 1), 0U) << "a partition that goes has to wait";
  lease_elsewhere(queue, 0, 63);
  EXPECT_EQ(share(queue, 1), 1U);
  db_.execute("DELETE FROM queue");
  EXPECT_EQ(share(queue, 1), 0U);
}

TEST_F(CappedTest, NoMoreThanTheShareRunsAtATimeAndNothingIsDetached) {
  config_.detach_after = std::chrono::milliseconds(1);
  const auto queue = make_queue("a", 1, 3);
  put_tasks_of(queue, 0, 30, 150);
  const auto one = capped_worker();
  ASSERT_TRUE(work_until_all_ended(*one));
  EXPECT_EQ(side::overlap(side::read_lines(output_)), 3U);
  EXPECT_EQ(one->slot().tasks_done, 30U);
}

// S7: not all tasks that were due then.
TEST_F(CappedTest, AfterALostHostTheBlockOfItsHolderRunsAloneAndNoMore) {
  config_.block_seconds = std::chrono::milliseconds(100);
  const auto queue = make_queue("a", 1, 4);
  put_tasks_of(queue, 0, 12, 200);
  const queue::LeaseStore lost(queue::make_holder("lost", "/"), kTtl);
  ASSERT_TRUE(lost.lease(db_, {queue.queue_id, 0}, {.block_size = 3}));
  const auto one = capped_worker();
  ASSERT_TRUE(work_until_all_ended(*one));
  EXPECT_EQ(one->slot().takeovers, 1U);
  const auto lines = side::read_lines(output_);
  EXPECT_EQ(side::alone_at_first(lines), 3U);
  EXPECT_LE(side::overlap(lines), 4U);
}

TEST_F(CappedTest, OneAtATimeRunsInTheOrderOfTheirTimes) {
  const auto queue = make_queue("a", 1, 1);
  put_tasks_of(queue, 0, 20, 1);
  const auto one = capped_worker();
  ASSERT_TRUE(work_until_all_ended(*one));
  const auto lines = side::read_lines(output_);
  EXPECT_EQ(side::overlap(lines), 1U);
  int next = 1;
  for (const side::Line& line : lines) {
    if (!line.begins) continue;
    EXPECT_EQ(line.name, "t0x" + std::to_string(next++));
  }
}

// It does not leave its partition, and others run next to it; also later ones, and after the normal
// end of the lease.
TEST_F(CappedTest, AJobThatRunsForLongKeepsNoPlaceEmpty) {
  config_.block_seconds = std::chrono::milliseconds(10);
  const auto queue = make_queue("a", 1, 3);
  put_gate(queue);
  put_tasks_of(queue, 0, 60, 2);
  const auto one = capped_worker();
  BackgroundWorker work(*this, *one);
  ASSERT_TRUE(begin(61));
  ASSERT_TRUE(eventually([&] { return value("SELECT COUNT(*) FROM task") == "1"; }));
  put_tasks_of(queue, 0, 5, 2);
  ASSERT_TRUE(begin(66));
  EXPECT_EQ(value("SELECT COUNT(*) FROM task WHERE type = 'side.gate'"), "1");
  work.end();
  EXPECT_EQ(value("SELECT COUNT(*) FROM task"), "0");
  EXPECT_EQ(one->slot().tasks_done, 66U);
  EXPECT_EQ(side::overlap(side::read_lines(output_)), 3U);
}

TEST_F(CappedTest, NorWhereItsQueueHasARate) {
  const auto queue = make_queue("a", 1, 4);
  queue::set_rate(db_, queue, {100'000'000, 2});
  put_gate(queue);
  put_tasks_of(queue, 0, 30, 1);
  const auto one = capped_worker();
  BackgroundWorker work(*this, *one);
  ASSERT_TRUE(begin(31));
  work.end();
  EXPECT_TRUE(work_until_all_ended(*one));
  EXPECT_LE(side::overlap(side::read_lines(output_)), 4U);
}

// A lease that continued because of it would see no pause and no change, and would block the turns
// of others.
TEST_F(CappedTest, NothingMoreStartsWithItWhereTheLeaseShouldEnd) {
  config_.block_seconds = std::chrono::milliseconds(10);
  const auto queue = make_queue("a", 1, 3);
  const auto other = make_queue("b", 1, 1);
  const std::vector<std::pair<std::string, std::function<void()>>> reasons = {
      {"a pause", [&] { queue::pause(db_, queue, "mine"); }},
      {"a change", [&] { change(queue, 1, 4); }},
      {"a rate",
       [&] {
         queue::set_rate(db_, queue, {1'000'000'000, 9});
       }},
      {"another queue", [&] { put_tasks_of(other, 0, 1, 1); }}};
  for (const auto& [reason, happen] : reasons) {
    std::filesystem::remove(gate_);
    std::filesystem::remove(output_);
    put_gate(queue);
    put_tasks_of(queue, 0, 1, 1);
    const auto one = capped_worker();
    BackgroundWorker work(*this, *one);
    std::size_t begun = 2;
    ASSERT_TRUE(begin(begun)) << reason;
    happen();
    EXPECT_TRUE(eventually([&] {
      put_tasks_of(queue, 0, 1, 1, begun);
      return !begin(++begun, std::chrono::milliseconds(500));
    })) << reason;
    work.end();
    queue::resume(db_, queue);
    EXPECT_TRUE(work_until_all_ended(*one)) << reason;
    queue::remove_rate(db_, queue);
    change(queue, 1, 3);
  }
}

// A worker with a fixed list of queues learns the new cap from its next lease.
TEST_F(CappedTest, NorWhereTheCapOfAConfiguredQueueGrew) {
  config_.block_seconds = std::chrono::milliseconds(10);
  const auto queue = make_queue("a", 1, 3);
  put_gate(queue);
  put_tasks_of(queue, 0, 1, 1);
  const auto one = std::make_unique<LoopWorker>(
      options(), ServedQueues(std::vector{ServedQueue{queue, &config_}}), registry_, *board_,
      kThreads);
  BackgroundWorker work(*this, *one);
  std::size_t begun = 2;
  ASSERT_TRUE(begin(begun));
  queue::set_cap(db_, queue, 4);
  EXPECT_TRUE(eventually([&] {
    put_tasks_of(queue, 0, 1, 1, begun);
    return !begin(++begun, std::chrono::milliseconds(500));
  }));
  work.end();
  EXPECT_TRUE(work_until_all_ended(*one));
}

// Tasks of a partition that is no longer used, while there is always work in the other one.
TEST_F(CappedTest, AfterTheCapFellEveryPartitionHasItsTurn) {
  config_.block_seconds = std::chrono::milliseconds(10);
  const auto queue = make_queue("a", 2, 65);
  put_tasks_of(queue, 0, 20'000, 1);
  put_tasks_of(queue, 1, 5, 1);
  change(queue, 1, 2);
  std::atomic<bool> stop = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      const auto one = capped_worker();
      while (!stop) {
        if (auto block = one->find()) one->work(std::move(*block));
      }
    });
  }
  EXPECT_TRUE(
      eventually([&] { return value("SELECT COUNT(*) FROM task WHERE partition_no = 1") == "0"; }));
  EXPECT_NE(value("SELECT COUNT(*) FROM task"), "0");
  db_.execute("DELETE FROM task");
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(side::overlap(side::read_lines(output_)), 2U);
}

TEST_F(CappedTest, AQueueThatIsMadeLaterIsServed) {
  const auto one = capped_worker();
  EXPECT_FALSE(one->find());
  const auto later = make_queue("later", 1, 20);
  put_tasks_of(later, 0, 1);
  ASSERT_TRUE(eventually([&] {
    auto block = one->find();
    if (block) one->work(std::move(*block));
    return block.has_value();
  }));
  // Ringing programs know that this pool serves it.
  board_->pools[0].bell.rings = 0;
  peer::Ringer(*board_).ring({{later.queue_id, 1}});
  EXPECT_EQ(board_->pools[0].bell.rings, 1U);
}

TEST_F(CappedTest, AHintLeadsToAQueueThatIsNew) {
  const auto one = capped_worker();
  const auto later = make_queue("later", 1, 20);
  put_tasks_of(later, 0, 1);
  push_urgent(board_->pools[0], make_hint(later.queue_id, 0));
  board_->pools[0].next_scout_ns = UINT64_MAX;
  ASSERT_TRUE(eventually([&] {
    if (board_->pools[0].urgent_count == 0) {
      push_urgent(board_->pools[0], make_hint(later.queue_id, 0));
    }
    auto block = one->find();
    if (block) one->work(std::move(*block));
    return block.has_value();
  }));
}

TEST_F(CappedTest, AQueueThatIsHiddenIsServedNoMore) {
  const auto queue = make_queue("a", 1, 20);
  put_tasks_of(queue, 0, 1);
  db_.execute("UPDATE fireworq_queue SET hidden_at = UTC_TIMESTAMP(6)");
  EXPECT_TRUE(served().ids().empty());
  db_.execute("UPDATE fireworq_queue SET hidden_at = NULL");
  EXPECT_EQ(served().ids(), std::vector{queue.queue_id});
}

// A worker learns the first cap of a queue, and its end, by a lease that it gives back.
TEST_F(CappedTest, AWorkerThatKnowsNoCapLearnsIt) {
  const auto queue = queue::ensure_queue(db_, "named", {1});
  put_tasks_of(queue, 0, 6);
  const auto worker = std::make_unique<LoopWorker>(
      options(), ServedQueues({ServedQueue{queue, &config_}}), registry_, *board_, kThreads);
  queue::set_cap(db_, queue, 2);
  std::optional<queue::Block> block;
  ASSERT_TRUE(eventually([&] { return (block = worker->find()).has_value(); }));
  EXPECT_EQ(block->cap, 2U);
  EXPECT_EQ(block->tasks.size(), 2U);
  worker->work(std::move(*block));
  EXPECT_TRUE(work_until_all_ended(*worker));
  EXPECT_EQ(side::overlap(side::read_lines(output_)), 2U);
  queue::set_cap(db_, queue, 0);
  put_tasks_of(queue, 0, 6, 1, 100);
  ASSERT_TRUE(eventually([&] { return (block = worker->find()).has_value(); }));
  EXPECT_EQ(block->tasks.size(), 6U);
  worker->work(std::move(*block));
}

// More partitions than tasks may run: each lease may run one, if the others leave room.
TEST_F(CappedTest, ACapBelowTheNumberOfPartitionsHolds) {
  const auto queue = make_queue("a", 8, 2);
  for (std::uint32_t partition = 0; partition < 8; ++partition) {
    put_tasks_of(queue, partition, 2, 5, 1 + partition * std::uint64_t{10});
  }
  const auto worker = capped_worker();
  EXPECT_TRUE(work_until_all_ended(*worker));
  EXPECT_LE(side::overlap(side::read_lines(output_)), 2U);
  lease_elsewhere(queue, 0, 1);
  EXPECT_EQ(share(queue, 7), 1U);
  lease_elsewhere(queue, 1, 1);
  EXPECT_EQ(share(queue, 7), 0U);
}

TEST_F(CappedTest, OnlyASpreadQueueHasACap) {
  const auto ordered = queue::ensure_queue(db_, "in-order", {4, queue::Placement::kOrdered});
  EXPECT_THROW(queue::set_cap(db_, ordered, 2), Error);
}

TEST_F(CappedTest, AChangeHoldsFromTheNextLeaseOn) {
  const auto queue = make_queue("a", 1, 2);
  put_tasks_of(queue, 0, 8, 150);
  const auto one = capped_worker();
  auto before = one->find();
  ASSERT_TRUE(before);
  EXPECT_EQ(before->tasks.size(), 2U);
  change(queue, 1, 5);
  one->work(std::move(*before));
  EXPECT_EQ(side::overlap(side::read_lines(output_)), 2U);
  EXPECT_TRUE(eventually([&] {
    db_.execute("DELETE FROM task");
    put_tasks_of(queue, 0, 5, 1);
    auto block = one->find();
    const std::size_t tasks = block ? block->tasks.size() : 0;
    if (block) one->work(std::move(*block));
    return tasks == 5;
  }));
}

// The others have used all of it since before a change: the unused part is free for the next one.
TEST_F(CappedTest, WithoutRoomALeaseIsGivenBack) {
  const auto queue = make_queue("a", 2, 100);
  change(queue, 2, 50);
  lease_elsewhere(queue, 1, 50);
  put_tasks_of(queue, 0, 1);
  const auto one = capped_worker();
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(one->find());
  EXPECT_EQ(value("SELECT state FROM q_lock_table WHERE partition_no = 0 AND queue_id = " +
                  std::to_string(queue.queue_id)),
            "FREE");
  db_.execute("UPDATE q_lock_table SET state = 'FREE'");
  EXPECT_TRUE(work_until_all_ended(*one));
}

// Its charge is given back (S43); otherwise such leases would use up the rate of the others.
TEST_F(CappedTest, WithoutRoomALeaseGivesBackWhatItWasCharged) {
  const auto queue = make_queue("a", 2, 50);
  queue::set_rate(db_, queue, {1000, 3});  // after the first three, one per 1,000 s
  lease_elsewhere(queue, 1, 50);
  put_tasks_of(queue, 0, 1);
  const auto one = capped_worker();
  const std::string epoch =
      "SELECT epoch FROM q_lock_table WHERE partition_no = 0 AND queue_id = " +
      std::to_string(queue.queue_id);
  for (int i = 0; i < 3; ++i) {
    const std::string before = value(epoch);
    EXPECT_TRUE(eventually([&] { return !one->find() && value(epoch) != before; }));
  }
  db_.execute("UPDATE q_lock_table SET state = 'FREE'");
  EXPECT_TRUE(work_until_all_ended(*one, std::chrono::seconds(10)));
}

// It has fetched more than that by then.
TEST_F(CappedTest, ALeaseRunsNoMoreThanTheOthersLeave) {
  const auto queue = make_queue("a", 2, 10);
  lease_elsewhere(queue, 1, 8);
  put_tasks_of(queue, 0, 6, 150);
  const auto one = capped_worker();
  ASSERT_TRUE(work_until_all_ended(*one));
  EXPECT_EQ(side::overlap(side::read_lines(output_)), 2U);
}

TEST_F(CappedTest, AQueueWithARateKeepsIt) {
  const auto queue = make_queue("a", 1, 4);
  queue::set_rate(db_, queue, {20'000'000, 1});
  put_tasks_of(queue, 0, 20, 1);
  const auto one = capped_worker();
  const Nanos began = mono_ns();
  ASSERT_TRUE(work_until_all_ended(*one));
  EXPECT_GT(mono_ns() - began, 500 * kMilli) << "20 a second, of which some may start at once";
}

}  // namespace
}  // namespace allot::worker
