// SPDX-License-Identifier: Apache-2.0
// Workers of a queue with a rate (A11): tasks that they start, starts that they give back, and
// waits.
// Rule: S61.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "db/worker/loop_fixture.h"
#include "queue/operate/limits.h"
#include "support/eventually.h"
#include "support/rewriting_proxy.h"

namespace allot::worker {
namespace {

using std::chrono::milliseconds;
using support::eventually;

class RateLoopTest : public LoopTest {
 protected:
  using LoopTest::LoopTest;
  // Sets the rate like an operator, with full buckets.
  void set_rate(const std::string& per_second, const std::string& burst = "1") {
    queue::set_rate(db_, queue_, queue::read_rate(per_second, burst));
    db_.execute("UPDATE queue_bucket SET next_free = 0 WHERE queue_id > 0");
  }
  // The first lease that the worker finds.
  queue::Block must_find(LoopWorker& worker) {
    std::optional<queue::Block> block;
    EXPECT_TRUE(eventually([&] { return (block = worker.find()).has_value(); }));
    return block.value_or(queue::Block{});
  }
  // Resets to this number of tasks, and full buckets.
  void refill(std::uint64_t tasks, const std::string& type) {
    db_.execute("DELETE FROM task; UPDATE queue_bucket SET next_free = 0 WHERE queue_id > 0");
    put_tasks(0, tasks, type);
  }
  // How many of ten tasks a worker starts before it finds none: never more than `most`. It may be
  // fewer: starts not used within 200 ms of the request have lapsed (Grant::kLapse).
  std::uint64_t started_of_ten(LoopWorker& worker, std::uint64_t most) {
    refill(10, "test.ok");
    const std::uint64_t before = worker.slot().tasks_done;
    int nothing = 0;
    EXPECT_TRUE(eventually([&] {
      auto block = worker.find();
      nothing = block ? 0 : nothing + 1;
      if (block) worker.work(std::move(*block));
      return nothing == 5;
    }));
    const std::uint64_t started = worker.slot().tasks_done - before;
    EXPECT_LE(started, most);
    EXPECT_EQ(tasks_left(), std::to_string(10 - started));
    return started;
  }
  support::TempDir proxy_folder_;
  // Number of starts that the bucket permits now.
  std::int64_t free_now() {
    return std::atoll(
        value("SELECT (charged_at - next_free) DIV interval_us + 1 FROM queue_bucket").c_str());
  }
};

TEST_F(RateLoopTest, AllTasksRunAndEachIsChargedFor) {
  set_rate("100", "40");
  put_tasks(0, 30);
  const std::string began =
      value("SELECT TIMESTAMPDIFF(MICROSECOND, '2025-01-01', UTC_TIMESTAMP(6))");
  auto mine = worker();
  EXPECT_TRUE(eventually([&] {
    if (auto block = mine->find()) mine->work(std::move(*block));
    return tasks_left() == "0";
  }));
  EXPECT_EQ(mine->slot().tasks_done, 30U);
  // From a full bucket, at most 390 ms after the first charge, 30 starts of 10 ms each.
  EXPECT_GE(std::atoll(value("SELECT next_free - " + began + " FROM queue_bucket").c_str()),
            -390'000 + 300'000);
}

TEST_F(RateLoopTest, NoMoreThanTheBucketHasAndThePartitionGoesBack) {
  set_rate("0.01", "3");
  auto mine = worker();
  EXPECT_TRUE(eventually([&] { return started_of_ten(*mine, 3) == 3; }));
  EXPECT_EQ(value("SELECT COUNT(*) FROM q_lock_table WHERE state <> 'FREE'"), "0");
}

// A worker that was stopped between its fetch and its first task.
TEST_F(RateLoopTest, TaskThatDidNotStartInTimeIsChargedAgain) {
  set_rate("0.01", "10");
  auto mine = worker();
  EXPECT_TRUE(eventually([&] {
    refill(1, "test.ok");
    auto block = must_find(*mine);
    EXPECT_EQ(block.tasks.size(), 1U);
    const Nanos found = boot_ns();
    EXPECT_TRUE(eventually([&] { return boot_ns() >= found + Grant::kLapse; }));
    mine->work(std::move(block));
    EXPECT_TRUE(eventually([&] {
      if (auto again = mine->find()) mine->work(std::move(*again));
      return tasks_left() == "0";
    }));
    EXPECT_LE(free_now(), 8) << "of ten, one lapsed and one was used";
    return free_now() == 8;
  }));
}

TEST_F(RateLoopTest, AnUnknownTypeIsNotCountedAsAStart) {
  set_rate("0.01", "3");
  auto mine = worker();
  // Starts given back too late are not accepted.
  EXPECT_TRUE(eventually([&] {
    refill(1, "no.such.type");
    mine->work(must_find(*mine));
    return free_now() == 3;
  })) << "given back";
}

// S42: the lease of a lost host is freed, and its tasks are charged like any others.
TEST_F(RateLoopTest, ATakeoverStartsNothing) {
  put_tasks(0, 2);
  const queue::LeaseStore lost(queue::make_holder("lost", "/"), kTtl);
  ASSERT_TRUE(lost.lease(db_, partition(0), {}));
  set_rate("0.01", "1");
  auto mine = worker();
  put_tasks(1, 1);
  // Now it knows of the rate, which is used up.
  ASSERT_TRUE(eventually([&] {
    db_.execute("UPDATE queue_bucket SET next_free = 0 WHERE queue_id > 0");
    if (auto block = mine->find()) mine->work(std::move(*block));
    return mine->slot().tasks_done == 1;
  }));
  db_.execute("UPDATE queue_bucket SET next_free = charged_at + interval_us WHERE queue_id > 0");
  EXPECT_TRUE(eventually([&] {
    if (auto block = mine->find()) mine->work(std::move(*block));
    return mine->slot().takeovers == 1;
  }));
  for (int i = 0; i < 3; ++i) {
    if (auto block = mine->find()) mine->work(std::move(*block));
  }
  EXPECT_EQ(mine->slot().tasks_done, 1U);
  EXPECT_EQ(tasks_left(), "2");
  EXPECT_EQ(value("SELECT COUNT(*) FROM q_lock_table WHERE state <> 'FREE'"), "0");
}

// S43: the first try is written, and its reply is lost.
TEST_F(RateLoopTest, UnusedGrantIsReturnedOnceDespiteALostReply) {
  set_rate("0.01", "3");
  std::atomic<int> releases{0};
  // The packet is executed and then ends the connection, so that the outcome is unknown.
  const support::RewritingProxy proxy(proxy_folder_ / "p", options().socket, [&](std::string sql) {
    if (sql.find("defer_until = IF(") == std::string::npos) return sql;
    return ++releases == 1 ? sql + "; KILL CONNECTION_ID()" : sql;
  });
  db::ConnectOptions through = options();
  through.socket = proxy.socket();
  auto mine =
      std::make_unique<LoopWorker>(through, ServedQueue{queue_, &config_}, registry_, *board_);
  EXPECT_TRUE(eventually([&] {
    releases = 0;
    refill(1, "no.such.type");
    mine->work(must_find(*mine));
    EXPECT_GE(releases, 2) << "it was sent again";
    return free_now() == 3;
  })) << "and not given back again";
}

// Workers soon know the rate: one that is set while they run.
TEST_F(RateLoopTest, ARateThatIsSetIsLearntAndOneThatIsRemovedForgotten) {
  auto mine = worker();
  put_tasks(0, 1);
  const auto drains = [&] {
    return eventually([&] {
      if (auto block = mine->find()) mine->work(std::move(*block));
      return tasks_left() == "0";
    });
  };
  ASSERT_TRUE(drains());
  set_rate("50");
  put_tasks(0, 3);
  ASSERT_TRUE(drains());
  EXPECT_NE(value("SELECT MAX(charged_at) FROM queue_bucket"), "0");
  queue::remove_rate(db_, queue_);
  put_tasks(0, 3);
  ASSERT_TRUE(drains());
}

TEST_F(RateLoopTest, TasksSideBySideAreCharged) {
  set_rate("0.01", "5");
  auto mine = worker(queue_, 4);
  EXPECT_TRUE(eventually([&] { return started_of_ten(*mine, 5) == 5; }));
}

// Handlers that take several tasks in a call and throw: each task is then called once more, by
// itself.
class RateOfFailedCallsTest : public OutputFile, public RateLoopTest {
 protected:
  RateOfFailedCallsTest() : RateLoopTest(ALLOT_BATCH_FOLDER, {{"batch", {{"output", output_}}}}) {}

  void put_refused(int count) {
    db_.execute("INSERT INTO task (queue_id, partition_no, prio, run_key, type, payload) SELECT " +
                std::to_string(queue_.queue_id) +
                ", 0, 1, seq, 'batch.fifty', CONCAT(seq, ' refuse') FROM " +
                support::numbers(1, static_cast<std::uint64_t>(count)));
  }
  void drain(LoopWorker& worker) {
    EXPECT_TRUE(eventually([&] {
      if (auto block = worker.find()) worker.work(std::move(*block));
      return tasks_left() == "0";
    }));
  }
  // Number of calls with several tasks, and of calls of its own, for each task.
  struct Calls {
    std::map<std::string, int> together, alone;
    int all = 0;
  };
  [[nodiscard]] Calls calls() const {
    Calls calls;
    std::ifstream file(output_);
    for (std::string line; std::getline(file, line);) {
      std::istringstream words(line);
      std::string verb, name;
      words >> verb >> name;
      while (words >> name) {
        ++(verb == "many" ? calls.together : calls.alone)[name.substr(0, name.find(':'))];
        ++calls.all;
      }
    }
    return calls;
  }
};

TEST_F(RateOfFailedCallsTest, EachCallIsChargedFor) {
  set_rate("20", "40");
  put_refused(20);
  const std::string began =
      value("SELECT TIMESTAMPDIFF(MICROSECOND, '2025-01-01', UTC_TIMESTAMP(6))");
  const auto mine = worker();
  drain(*mine);
  const Calls seen = calls();
  EXPECT_GT(seen.together.size(), 10U) << "calls of two";
  // From a full bucket, at most 39 starts after the first charge, 50 ms for each start.
  const auto charged =
      std::atoll(value("SELECT next_free - " + began + " FROM queue_bucket").c_str());
  EXPECT_GE(charged, 50'000LL * (seen.all - 39)) << seen.all << " starts";
}

// A call that uses up its grant, and all starts of the bucket, leaves no start for its tasks: the
// next lease, whose grant is as large, must not repeat the call.
TEST_F(RateOfFailedCallsTest, NoTaskIsInTwoOfThem) {
  set_rate("0.01", "4");
  db_.execute("UPDATE queue_bucket SET max_grant = 4 WHERE queue_id > 0");
  put_refused(20);
  const auto mine = worker();
  int most = 0;
  EXPECT_TRUE(eventually([&] {
    db_.execute("UPDATE queue_bucket SET next_free = 0 WHERE queue_id > 0");
    if (auto block = mine->find()) mine->work(std::move(*block));
    for (const auto& [name, times] : calls().together) most = std::max(most, times);
    return most > 1 || tasks_left() == "0";
  }));
  EXPECT_EQ(most, 1);
  EXPECT_EQ(calls().alone.size(), 20U);
  EXPECT_EQ(value("SELECT COUNT(*) FROM task_dead"), "0");
}

}  // namespace
}  // namespace allot::worker
