// SPDX-License-Identifier: Apache-2.0
// Nothing is lost, nothing runs twice: many submit while many drain, and each task is counted by
// its payload.
#include <atomic>
#include <random>
#include <thread>

#include "db/queue/fixture.h"

namespace allot::queue {
namespace {

constexpr std::size_t kSubmitters = 8;
constexpr std::size_t kDrainers = 4;
constexpr std::size_t kPerSubmitter = 1500;
constexpr std::size_t kSubmitted = kSubmitters * kPerSubmitter;
constexpr std::uint32_t kWide = 16;

// The fate of the task with a payload.
struct Tally {
  std::atomic<std::uint32_t> finished{0};
  std::atomic<std::uint32_t> retried{0};
  std::atomic<std::uint32_t> buried{0};
  std::atomic<std::uint32_t> abandoned{0};  // finished, but not acknowledged
  std::atomic<bool> ended{false};
};

class DrainTest : public QueueTest {
 protected:
  void submit_all() {
    for (std::size_t who = 0; who < kSubmitters; ++who) {
      submitters_.emplace_back([this, who] { submit_some(who * kPerSubmitter); });
    }
  }
  // Payloads first .. first + kPerSubmitter - 1, in batches of very different sizes.
  void submit_some(std::size_t first) {
    std::mt19937 dice(static_cast<unsigned>(first));
    db::Connection db = connect();
    const std::size_t end = first + kPerSubmitter;
    while (first < end) {
      const std::size_t sizes[] = {1, 1, 2, 7, 40, 150};
      const std::size_t size = std::min(sizes[dice() % std::size(sizes)], end - first);
      std::vector<Submission> submissions;
      for (std::size_t i = 0; i < size; ++i) {
        submissions.push_back({wide_,
                               "t",
                               std::to_string(first++),
                               {.prio = static_cast<std::uint32_t>(dice() % kPrioClasses)}});
      }
      submitted_ += submit(db, submissions).size();
    }
  }

  // Drains with `work` until every task was submitted and has its verdict.
  void drain_all(const std::function<void(Worker&, Block, std::mt19937&)>& work) {
    std::vector<std::thread> drainers;
    std::atomic<unsigned> seed{1};
    for (std::size_t i = 0; i < kDrainers; ++i) {
      drainers.emplace_back([&] {
        std::mt19937 dice(seed++);
        Worker worker(connect());
        while (!done()) {
          for (const Partition& at : LeaseStore::scout(worker.db, std::vector{wide_.queue_id})) {
            auto block = worker.lease(at, kSpec);
            if (block) work(worker, std::move(*block), dice);
          }
        }
      });
    }
    for (std::thread& thread : submitters_) thread.join();
    for (std::thread& thread : drainers) thread.join();
  }
  bool done() {
    // If a drainer crashed in its test body, the others would wait for ever.
    return ended_ >= kSubmitted || HasFailure() ||
           std::chrono::steady_clock::now() > started_ + std::chrono::minutes(3);
  }

  Tally& tally(const Task& task) { return tallies_.at(std::stoul(task.payload.value())); }
  void count_end(std::atomic<std::uint32_t>& verdict, Tally& of) {
    ++verdict;
    if (!of.ended.exchange(true)) ++ended_;
  }

  static constexpr FetchSpec kSpec{.block_size = 30};
  QueueInfo wide_ = make_queue("wide", kWide);
  std::vector<Tally> tallies_ = std::vector<Tally>(kSubmitted);
  std::atomic<std::size_t> submitted_{0};
  std::atomic<std::size_t> ended_{0};
  std::vector<std::thread> submitters_;
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
};

TEST_F(DrainTest, NothingIsLostAndNothingRunsTwice) {
  const std::uint64_t deadlocks = counter("Innodb_deadlocks");
  submit_all();
  drain_all([this](Worker& worker, Block block, std::mt19937& dice) {
    std::vector<Finished> done;
    for (;;) {
      for (const Task& task : block.tasks) {
        Tally& mine = tally(task);
        if (task.attempt < 2 && dice() % 50 == 0) {
          ++mine.retried;
          ASSERT_EQ(worker.tasks.retry(worker.db, fence(block.lease, task), task.attempt + 1,
                                       std::chrono::microseconds(dice() % 2000), kFailure),
                    Fenced::kWritten);
        } else if (dice() % 200 == 0) {
          count_end(mine.buried, mine);
          ASSERT_EQ(
              worker.tasks.bury(worker.db, fence(block.lease, task), task.attempt + 1, kFailure),
              Fenced::kWritten);
        } else {
          count_end(mine.finished, mine);
          done.push_back(finished(task));
        }
      }
      if (block.tasks.size() < kSpec.block_size || dice() % 4 == 0) break;
      block.tasks = ack_and_fetch(worker.db, block.lease.partition, done, kSpec);
      done.clear();
    }
    ASSERT_TRUE(ack_and_release(worker.db, block.lease, done));
  });

  ASSERT_EQ(submitted_, kSubmitted);
  std::uint64_t retried = 0;
  std::uint64_t buried = 0;
  for (std::size_t i = 0; i < kSubmitted; ++i) {
    ASSERT_EQ(tallies_[i].finished + tallies_[i].buried, 1U) << "task " << i;
    retried += tallies_[i].retried;
    buried += tallies_[i].buried;
  }
  EXPECT_GT(retried, 0U);
  EXPECT_EQ(number("SELECT COUNT(*) FROM task"), 0U);
  EXPECT_EQ(number("SELECT COUNT(*) FROM task_moved"), 0U);
  EXPECT_EQ(number("SELECT COUNT(*) FROM task_dead"), buried);
  EXPECT_EQ(number("SELECT COUNT(*) FROM q_lock_table WHERE state <> 'FREE'"), 0U);
  EXPECT_EQ(counter("Innodb_deadlocks"), deadlocks) << "by design there is nothing to deadlock on";
}

// Some workers die with a block in flight (finished, not acknowledged), and some revive and
// continue unaware. Nothing is lost; tasks that ran twice were in flight.
TEST_F(DrainTest, WithDeathsNothingIsLostAndEachRepeatIsExplained) {
  submit_all();
  std::atomic<std::uint32_t> deaths{0};
  drain_all([&](Worker& worker, Block block, std::mt19937& dice) {
    const bool dies = deaths < 100 && dice() % 10 == 0;
    std::vector<Finished> done;
    for (const Task& task : block.tasks) {
      Tally& mine = tally(task);
      if (dies) ++mine.abandoned;
      count_end(mine.finished, mine);
      done.push_back(finished(task));
    }
    if (!dies) {
      ASSERT_TRUE(ack_and_release(worker.db, block.lease, done));
      return;
    }
    ++deaths;
    Worker thief(connect());
    const auto stolen = thief.steal(block.lease.partition, kSpec);
    ASSERT_TRUE(stolen);
    EXPECT_EQ(stolen->lease.suspects->per_class, kSpec.block_size);
    if (dice() % 2 == 0 && !block.tasks.empty()) {
      // The dead worker was only frozen: its fenced writes must have no effect, its acknowledgement
      // may.
      const Task& first = block.tasks.front();
      EXPECT_EQ(worker.tasks.retry(worker.db, fence(block.lease, first), 1, std::chrono::seconds(0),
                                   kFailure),
                Fenced::kLost);
      EXPECT_FALSE(ack_and_release(worker.db, block.lease, done));
    }
    std::vector<Finished> repeated;
    for (const Task& task : stolen->tasks) {
      Tally& mine = tally(task);
      count_end(mine.finished, mine);
      repeated.push_back(finished(task));
    }
    ASSERT_TRUE(ack_and_release(thief.db, stolen->lease, repeated));
  });

  ASSERT_EQ(submitted_, kSubmitted);
  std::uint64_t repeats = 0;
  for (std::size_t i = 0; i < kSubmitted; ++i) {
    const Tally& mine = tallies_[i];
    ASSERT_GE(mine.finished, 1U) << "task " << i << " is lost";
    ASSERT_LE(mine.finished, 1 + mine.abandoned) << "task " << i << " ran twice for no reason";
    repeats += mine.finished - 1;
  }
  EXPECT_GT(repeats, 0U) << "no worker died with tasks: nothing was tested";
  EXPECT_EQ(number("SELECT COUNT(*) FROM task"), 0U);
}

}  // namespace
}  // namespace allot::queue
