// SPDX-License-Identifier: Apache-2.0
// Pools with weights, and strict ones: the partition that the finder of a worker leases next.
#include "worker/lease/weights.h"

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "db/worker/fixture.h"
#include "db/worker/taker.h"
#include "queue/operate/limits.h"
#include "support/eventually.h"
#include "support/rewriting_proxy.h"
#include "support/temp_dir.h"

namespace allot::worker {
namespace {

class WeightsDbTest : public WorkerTest {
 protected:
  // A queue whose partitions were released in the order in which their queues are made.
  std::uint32_t make_queue(const std::string& name, std::uint32_t partitions, bool full = true) {
    ServedQueue queue;
    queue.info = queue::ensure_queue(db_, name, {partitions});
    queue.settings = &config_;
    queues_.push_back(queue);
    if (full) fill(queue.info.queue_id, partitions);
    const std::string age = std::to_string(3600 - 60 * queues_.size());
    db_.execute("UPDATE q_lock_table SET expire_at = UTC_TIMESTAMP(6) - INTERVAL " + age +
                " SECOND WHERE queue_id = " + std::to_string(queue.info.queue_id));
    return queue.info.queue_id;
  }
  // A task in each of its first partitions.
  void fill(std::uint32_t queue_id, std::uint32_t partitions) {
    db_.execute("INSERT INTO task (queue_id, partition_no, prio, run_key, type, payload) SELECT " +
                std::to_string(queue_id) + ", seq, 1, 5, 'x', '' FROM " +
                support::numbers(0, partitions - 1));
  }
  std::unique_ptr<Taker> taker(const std::vector<ServedQueue>& queues, std::uint64_t phase = 0) {
    return std::make_unique<Taker>(options(), *board_, queues, pool_, phase);
  }

  config::Queue config_;
  config::Pool pool_;
  std::vector<ServedQueue> queues_;
  std::unique_ptr<ipc::Board> board_ = std::make_unique<ipc::Board>();
};

// One poll returns 512 partitions, the longest unleased first: they are all of the lower queue.
TEST_F(WeightsDbTest, SixHundredPartitionsOfALowerQueueHideNothing) {
  const std::uint32_t low = make_queue("low", 600);
  const std::uint32_t high = make_queue("high", 3);
  pool_.strict = true;
  std::vector<std::uint32_t> taken;
  // Each keeps its lease: three partitions are all of the higher queue.
  std::vector<std::unique_ptr<Taker>> workers;
  for (int i = 0; i < 5; ++i) {
    workers.push_back(taker({queues_[1], queues_[0]}));
    taken.push_back(workers.back()->take());
  }
  EXPECT_EQ(taken, (std::vector<std::uint32_t>{high, high, high, low, low}));
}

// The board has hints of the lower queue for longer than the test may wait.
TEST_F(WeightsDbTest, WorkInAHigherQueueIsFoundWhileHintsOfALowerOneWait) {
  const std::uint32_t low = make_queue("low", 600);
  const std::uint32_t high = make_queue("high", 3, false);
  pool_.strict = true;
  const auto worker = taker({queues_[1], queues_[0]});
  ASSERT_EQ(worker->take(), low);
  worker->give_back();
  fill(high, 3);
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(worker->take(), high) << "lease " << i;
    worker->give_back();
  }
  db_.execute("DELETE FROM task WHERE queue_id = " + std::to_string(high) + " AND prio = 1");
  // The hints left by its former leases lead nowhere.
  std::uint32_t taken = 0;
  EXPECT_TRUE(support::eventually([&] { return (taken = worker->take()) != 0; }));
  EXPECT_EQ(taken, low);
}

// A11: a queue with a rate has its turn while it permits starts, and costs nothing in between.
TEST_F(WeightsDbTest, AHigherQueueWithARateIsLookedAtWhenATaskMayStart) {
  const std::uint32_t low = make_queue("low", 600);
  const std::uint32_t high = make_queue("high", 3);
  queue::set_rate(db_, queues_[1].info, queue::read_rate("0.01", "2"));
  const auto refill = [&] {
    db_.execute("UPDATE queue_bucket SET next_free = 0 WHERE queue_id = " + std::to_string(high));
  };
  refill();
  pool_.strict = true;
  std::atomic<std::uint64_t> looks{0};
  const support::TempDir folder;
  const support::RewritingProxy proxy(folder / "p", options().socket, [&](std::string sql) {
    looks += sql.find("ORDER BY lease.expire_at") != std::string::npos;
    return sql;
  });
  db::ConnectOptions through = options();
  through.socket = proxy.socket();
  Taker worker(through, *board_, {queues_[1], queues_[0]}, pool_, 0);
  const auto taken = [&] {
    const std::uint32_t queue_id = worker.take();
    worker.give_back();
    return queue_id;
  };
  EXPECT_EQ(taken(), high);
  EXPECT_EQ(taken(), high);
  const std::uint64_t before = looks;
  const Nanos begin = mono_ns();
  for (int i = 0; i < 30; ++i) EXPECT_EQ(taken(), low) << "lease " << i;
  EXPECT_LE(looks - before, 1 + (mono_ns() - begin) / kSecond);
  refill();
  EXPECT_TRUE(support::eventually([&] { return taken() == high; }))
      << "though hints of the lower queue wait";
}

TEST_F(WeightsDbTest, TwoWorkersBothGetAPartitionOfAHigherQueue) {
  make_queue("low", 16);
  const std::uint32_t high = make_queue("high", 2, false);
  pool_.strict = true;
  const auto one = taker({queues_[1], queues_[0]});
  const auto other = taker({queues_[1], queues_[0]});
  ASSERT_NE(one->take(), high);
  one->give_back();
  fill(high, 2);
  EXPECT_EQ(one->take(), high);
  EXPECT_EQ(other->take(), high);
}

// Four workers, each with its own count, and one board.
TEST_F(WeightsDbTest, LeasesAreTakenByTheWeights) {
  const std::uint32_t reports = make_queue("reports", 16);
  const std::uint32_t mail = make_queue("mail", 16);
  pool_.weights = {{"mail", 3}, {"reports", 1}};
  std::vector<std::unique_ptr<Taker>> workers;
  for (std::uint64_t phase = 0; phase < 4; ++phase) workers.push_back(taker(queues_, phase));
  std::map<std::uint32_t, std::size_t> taken;
  for (int i = 0; i < 800; ++i) {
    Taker& worker = *workers[static_cast<std::size_t>(i) % workers.size()];
    worker.give_back();
    if (const std::uint32_t queue_id = worker.take(); queue_id != 0) ++taken[queue_id];
  }
  const double ratio = static_cast<double>(taken[mail]) /
                       static_cast<double>(std::max<std::size_t>(taken[reports], 1));
  std::printf("%zu leases of mail, %zu of reports: %.3f\n", taken[mail], taken[reports], ratio);
  EXPECT_GT(taken[mail] + taken[reports], 400U);
  EXPECT_GT(ratio, 2.7);
  EXPECT_LT(ratio, 3.3);
}

// S13: partitions that no other worker wants are taken, whatever their weight, and so is each
// partition of a queue.
TEST_F(WeightsDbTest, AQueueOfLittleWeightHasTheWorkersWhileTheOtherIsEmpty) {
  const std::uint32_t reports = make_queue("reports", 8);
  make_queue("mail", 16, false);
  pool_.weights = {{"mail", 1000}, {"reports", 1}};
  const auto worker = taker(queues_);
  for (int i = 0; i < 30; ++i) {
    std::uint32_t taken = 0;
    EXPECT_TRUE(support::eventually([&] { return (taken = worker->take()) != 0; }));
    EXPECT_EQ(taken, reports);
    worker->give_back();
  }
  EXPECT_EQ(value("SELECT COUNT(*) FROM q_lock_table WHERE queue_id = " + std::to_string(reports) +
                  " AND epoch = 0"),
            "0")
      << "the partition that was left alone for longest is next";
}

}  // namespace
}  // namespace allot::worker
