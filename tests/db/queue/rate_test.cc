// SPDX-License-Identifier: Apache-2.0
// The rate of a queue (A11): charged calls and their amounts, and calls that lease nothing (S42,
// S43, S44).

#include <atomic>
#include <future>
#include <thread>

#include "db/queue/fixture.h"
#include "queue/model/task_facts.h"
#include "queue/notices/stuck.h"
#include "queue/operate/limits.h"
#include "queue/verbs/rated.h"
#include "queue/views/task_lists.h"
#include "support/eventually.h"
#include "support/rewriting_proxy.h"
#include "support/temp_dir.h"
#include "support/text.h"

namespace allot::queue {
namespace {

using std::chrono::microseconds;
using std::chrono::seconds;

Rate rate(std::string_view per_second, std::string_view burst = "1") {
  return read_rate(per_second, burst);
}

class RateTest : public QueueTest {
 protected:
  void fill_to_edge() { set_next_free("0"); }
  // Sets the time of all buckets, in SQL.
  void set_next_free(const std::string& when) {
    observer_.execute("UPDATE queue_bucket SET next_free = " + when);
  }
  // For both sessions, whatever the time between two statements of a test.
  void stop_clock() {
    const std::string now = "SET timestamp = " + value("SELECT UNIX_TIMESTAMP(UTC_TIMESTAMP(6))");
    observer_.execute(now);
    worker_.db.execute(now);
  }
  RatedLease lease(Worker& worker, std::uint32_t asked) {
    return lease_rated(worker.db, worker.leases, partition_, {}, asked).value();
  }
  Granted charge(const Lease& held, std::uint32_t asked) {
    return ack_and_fetch_rated(worker_.db, held, {}, {}, asked).granted;
  }
  std::vector<Partition> scouted(Closed closed = Closed::kLeftOut) {
    return scout_rated(observer_, std::vector{queue_.queue_id}, {}, closed).found;
  }
  QueueInfo shown() { return list_queues(observer_).at(0); }
};

constexpr const char* kNow = "TIMESTAMPDIFF(MICROSECOND, '2025-01-01', UTC_TIMESTAMP(6))";
// The pause of a program without rates.
std::string old_pause(std::uint32_t queue_id) {
  return "INSERT INTO queue_pause (queue_id, paused_at, reason) VALUES (" +
         std::to_string(queue_id) +
         ", UTC_TIMESTAMP(6), 'old') ON DUPLICATE KEY UPDATE reason = VALUES(reason)";
}

TEST_F(RateTest, ItIsSetShownChangedAndRemoved) {
  EXPECT_FALSE(shown().rate);
  EXPECT_TRUE(set_rate(observer_, queue_, rate("0.5", "3")));
  EXPECT_EQ(shown().rate, rate("0.5", "3"));
  EXPECT_FALSE(shown().paused);
  const std::string before = value("SELECT next_free FROM queue_bucket");
  EXPECT_FALSE(set_rate(observer_, queue_, rate("0.5", "3"))) << "nothing new";
  EXPECT_EQ(value("SELECT next_free FROM queue_bucket"), before);
  EXPECT_TRUE(set_rate(observer_, queue_, rate("500")));
  EXPECT_EQ(number("SELECT COUNT(*) FROM queue_bucket"), 3U);
  EXPECT_TRUE(remove_rate(observer_, queue_));
  EXPECT_FALSE(remove_rate(observer_, queue_));
  EXPECT_FALSE(shown().rate);
  EXPECT_EQ(number("SELECT (SELECT COUNT(*) FROM queue_bucket) + (SELECT COUNT(*) FROM queue_rate)"
                   " + (SELECT COUNT(*) FROM queue_pause)"),
            0U);
}

TEST_F(RateTest, BadInputIsNamed) {
  for (const char* text : {"0", "-1", "nan", "inf", "", "0.000009", "100001", "five"}) {
    EXPECT_THROW(rate(text), Error) << text;
  }
  for (const char* text : {"0", "-1", "1.5", "", "1000001", "99999999999", "x"}) {
    EXPECT_THROW(rate("1", text), Error) << text;
  }
}

TEST_F(RateTest, PausedAndRatedAreTwoFacts) {
  set_rate(observer_, queue_, rate("5"));
  EXPECT_FALSE(resume(observer_, queue_)) << "it is not paused";
  put(1);
  EXPECT_EQ(scouted().size(), 1U);
  pause(observer_, queue_, "why");
  EXPECT_EQ(shown().paused->reason, "why");
  EXPECT_EQ(shown().rate, rate("5"));
  EXPECT_TRUE(scouted(Closed::kToo).empty());
  EXPECT_FALSE(lease(worker_, 1).block);
  EXPECT_TRUE(resume(observer_, queue_));
  EXPECT_FALSE(shown().paused);
  EXPECT_EQ(scouted().size(), 1U);
  pause(observer_, queue_, "why");
  EXPECT_TRUE(remove_rate(observer_, queue_));
  EXPECT_TRUE(shown().paused) << "a queue that is paused besides stays paused";
  EXPECT_TRUE(resume(observer_, queue_));
  pause(observer_, queue_, "first");
  set_rate(observer_, queue_, rate("5"));
  EXPECT_TRUE(shown().paused);
  pause(observer_, queue_, kRatedOnly);
  EXPECT_TRUE(shown().paused) << "also with the words by which a row says that it is only rated";
}

// S42: statements without a charge do not touch it.
TEST_F(RateTest, ItIsClosedToWorkersThatKnowNoRates) {
  put(3);
  set_rate(observer_, queue_, rate("500"));
  EXPECT_FALSE(worker_.lease(partition_));
  EXPECT_TRUE(LeaseStore::scout(observer_, std::vector{queue_.queue_id}).empty());
  ASSERT_TRUE(lease(worker_, 1).block);
  Worker other(connect());
  EXPECT_FALSE(other.steal(partition_)) << "a takeover that would start its tasks";
}

// S42: a resume by a program without rates deletes the row.
TEST_F(RateTest, AnOldResumeDoesNotOpenIt) {
  put(1);
  set_rate(observer_, queue_, rate("5"));
  EXPECT_THROW(observer_.execute("DELETE FROM queue_pause WHERE queue_id = " +
                                 std::to_string(queue_.queue_id)),
               db::DbError);
  EXPECT_FALSE(worker_.lease(partition_));
  observer_.execute(old_pause(queue_.queue_id));
  EXPECT_FALSE(lease(worker_, 1).block) << "and an old pause holds for those who know rates";
  EXPECT_EQ(shown().paused->reason, "old");
  EXPECT_TRUE(resume(observer_, queue_));
  EXPECT_TRUE(lease(worker_, 1).block);
}

TEST_F(RateTest, ATakeoverThatStartsNothingFreesThePartition) {
  put(1);
  set_rate(observer_, queue_, rate("5"));
  ASSERT_TRUE(lease(worker_, 1).block);
  Worker other(connect());
  const auto seen = LeaseStore::watch(observer_, std::vector{queue_.queue_id});
  ASSERT_EQ(seen.size(), 1U);
  const auto block = other.leases.take_over(other.db, seen[0], true, {}, Locked::kWait, true);
  ASSERT_TRUE(block);
  EXPECT_TRUE(block->lease.suspects);
  EXPECT_TRUE(other.leases.release(other.db, block->lease));
  pause(observer_, queue_, "");
  ASSERT_FALSE(lease(worker_, 1).block);
}

TEST_F(RateTest, OnlyTasksAtTheHeadAreChargedFor) {
  put(3);
  set_rate(observer_, queue_, rate("500", "1"));
  fill_to_edge();
  const auto taken = lease(worker_, 20);
  ASSERT_TRUE(taken.block);
  EXPECT_EQ(taken.granted.starts, 3U);
  EXPECT_EQ(taken.block->tasks.size(), 3U);
  EXPECT_EQ(taken.granted.max_grant, 50U);
  EXPECT_EQ(taken.granted.wait_us, 0U);
  EXPECT_EQ(charge(taken.block->lease, 2).starts, 2U) << "no more than asked for";
  EXPECT_EQ(number("SELECT SUM(granted) FROM queue_bucket"), 5U);
}

TEST_F(RateTest, RunningHeadIsChargedOnce) {
  put(5);
  set_rate(observer_, queue_, rate("500", "1"));
  fill_to_edge();
  const auto taken = lease(worker_, 3);
  ASSERT_TRUE(taken.block);
  const auto again = [&](std::size_t running, std::uint32_t asked) {
    std::vector<TaskKey> keys(running);
    for (std::size_t i = 0; i < running && i < taken.block->tasks.size(); ++i) {
      keys[i] = taken.block->tasks[i].key;
    }
    FetchSpec spec;
    spec.running = keys;
    const RatedFetch fetched = ack_and_fetch_rated(worker_.db, taken.block->lease, {}, spec, asked);
    return std::pair(fetched.granted.starts, fetched.tasks.size());
  };
  EXPECT_EQ(again(3, 20), (std::pair<std::uint32_t, std::size_t>(2, 5)));
  EXPECT_EQ(again(3, 1), (std::pair<std::uint32_t, std::size_t>(1, 4)));
  EXPECT_EQ(again(5, 20), (std::pair<std::uint32_t, std::size_t>(0, 5)));
  EXPECT_EQ(again(9, 20), (std::pair<std::uint32_t, std::size_t>(0, 5))) << "some are gone";
}

TEST_F(RateTest, TheBucketSaysHowMany) {
  put(40);
  set_rate(observer_, queue_, rate("50", "12"));
  fill_to_edge();
  const auto taken = lease(worker_, 40);
  ASSERT_TRUE(taken.block);
  EXPECT_EQ(taken.granted.starts, 5U) << "100 ms of the rate";
  EXPECT_EQ(charge(taken.block->lease, 40).starts, 5U);
  const Granted last = charge(taken.block->lease, 40);
  EXPECT_GE(last.starts, 2U) << "of 12, and what has come since";
}

TEST_F(RateTest, RefusedWorkerLearnsWhenToReturn) {
  put(2);
  set_rate(observer_, queue_, rate("0.02"));
  const auto taken = lease(worker_, 1);
  ASSERT_TRUE(taken.block);
  EXPECT_EQ(taken.granted.starts, 1U);
  EXPECT_GT(taken.granted.wait_us, 25'000'000U);
  EXPECT_LE(taken.granted.wait_us, 50'000'000U);
  EXPECT_EQ(charge(taken.block->lease, 1).starts, 0U);
  ASSERT_TRUE(worker_.leases.release(worker_.db, taken.block->lease));
  EXPECT_TRUE(scouted().empty());
  EXPECT_EQ(scouted(Closed::kToo).size(), 1U);
  const auto refused = lease(worker_, 1);
  EXPECT_FALSE(refused.block);
  EXPECT_TRUE(refused.granted.rated);
  EXPECT_EQ(refused.granted.starts, 0U);
  EXPECT_GT(refused.granted.wait_us, 25'000'000U);
  const auto task = show(observer_, list_tasks(observer_, queue_, 1).at(0).id);
  const auto why = standing(observer_, *task);
  ASSERT_TRUE(why && why->rate_wait);
  EXPECT_GT(why->rate_wait->count(), 25'000'000);
  EXPECT_FALSE(why->paused);
  // It is not stuck.
  EXPECT_TRUE(stuck_waiting(observer_, queue_.queue_id, microseconds(0)));
}

// S43: by data in the packet, and never by the result of an earlier charge of the same holder.
TEST_F(RateTest, NothingIsGrantedWithoutTheLease) {
  put(5);
  set_rate(observer_, queue_, rate("500"));
  fill_to_edge();
  const auto taken = lease(worker_, 2);
  ASSERT_TRUE(taken.block && taken.granted.starts == 2);
  observer_.execute("UPDATE q_lock_table SET lock_by = 4711");
  const std::string before = value("SELECT SUM(next_free) FROM queue_bucket");
  const Granted granted = charge(taken.block->lease, 2);
  EXPECT_TRUE(granted.rated);
  EXPECT_EQ(granted.starts, 0U);
  EXPECT_EQ(value("SELECT SUM(next_free) FROM queue_bucket"), before);
}

TEST_F(RateTest, WhenTheRateIsGoneNothingMoreIsGranted) {
  put(5);
  set_rate(observer_, queue_, rate("500"));
  const auto taken = lease(worker_, 1);
  ASSERT_TRUE(taken.block);
  remove_rate(observer_, queue_);
  const Granted granted = charge(taken.block->lease, 1);
  EXPECT_FALSE(granted.rated);
  EXPECT_EQ(granted.starts, 0U);
}

// S44, over a table of clocks: the bucket of 10/s holds 4 starts, and reaches 100 ms ahead.
TEST_F(RateTest, ATimeFarFromTheClockCountsAsNowOrAsTheEdge) {
  put(20);
  set_rate(observer_, queue_, rate("10", "4"));
  observer_.execute("UPDATE queue_bucket SET max_grant = 100");
  const auto taken = lease(worker_, 1);
  ASSERT_TRUE(taken.block);
  stop_clock();
  struct Case {
    std::int64_t ahead_us;  // relative to the clock
    std::uint32_t starts;
    std::int64_t then_us;  // value after the charge, relative to the clock
  };
  for (const Case& one :
       {Case{-3'600'000'000, 4, 100'000}, Case{-86'400'000'000, 4, 100'000},
        Case{-300'000, 4, 100'000}, Case{-250'000, 3, 50'000}, Case{-150'000, 2, 50'000},
        Case{-50'000, 1, 50'000}, Case{80'000, 0, 80'000}, Case{200'000, 1, 100'000},
        Case{3'600'000'000, 1, 100'000}, Case{86'400'000'000, 1, 100'000}}) {
    set_next_free(kNow + (" + " + std::to_string(one.ahead_us)));
    const Granted granted = charge(taken.block->lease, 20);
    EXPECT_EQ(granted.starts, one.starts) << one.ahead_us;
    if (granted.starts == 0) continue;
    const auto then = static_cast<std::int64_t>(
        number("SELECT CAST(next_free AS SIGNED) - charged_at + 1000000 FROM queue_bucket"));
    EXPECT_NEAR(static_cast<double>(then - 1'000'000), static_cast<double>(one.then_us), 45'000)
        << one.ahead_us;
  }
}

// Each of several buckets works again after the clock was set back.
TEST_F(RateTest, AllBucketsGoOnAfterTheClockWasSetBack) {
  put(10);
  set_rate(observer_, queue_, rate("500"));
  fill_to_edge();
  const auto taken = lease(worker_, 1);
  ASSERT_TRUE(taken.block);
  set_next_free(std::string(kNow) + " + 3600000000");
  const RatedQueue seen = scout_rated(observer_, std::vector{queue_.queue_id}, {}).queues.at(0);
  EXPECT_EQ(seen.wait.count(), 0);
  EXPECT_EQ(seen.starts, 3U);
  for (int i = 0; i < 3; ++i) EXPECT_GE(charge(taken.block->lease, 1).starts, 1U) << i;
  EXPECT_EQ(number(std::string("SELECT COUNT(*) FROM queue_bucket WHERE next_free > ") + kNow +
                   " + 1000000"),
            0U);
}

// S43: within the time of the grant.
TEST_F(RateTest, UnusedGrantIsReturnedWithTheRelease) {
  put(5);
  set_rate(observer_, queue_, rate("10", "5"));
  observer_.execute("UPDATE queue_bucket SET max_grant = 100");
  stop_clock();
  const auto give_back = [&](std::int64_t charged_ago_us) {
    set_next_free(kNow);
    const auto taken = lease(worker_, 1);
    EXPECT_TRUE(taken.block);
    const std::string before = value("SELECT next_free FROM queue_bucket");
    const Unused unused{queue_.queue_id, taken.granted.bucket_no,
                        taken.granted.charged_at - charged_ago_us, 3};
    EXPECT_TRUE(ack_and_release(worker_.db, taken.block->lease, {}, {}, unused));
    return number("SELECT " + before + " - next_free FROM queue_bucket");
  };
  EXPECT_EQ(give_back(0), 300'000U);
  EXPECT_EQ(give_back(200'001), 0U) << "too late";
}

// A worker that charges one bucket does not wait for another.
TEST_F(RateTest, ALockedBucketDoesNotBlockTheOthers) {
  put(10);
  set_rate(observer_, queue_, rate("500"));
  fill_to_edge();
  observer_.execute("UPDATE queue_bucket SET next_free = 5 WHERE bucket_no <> 1");
  const auto taken = lease(worker_, 1);
  ASSERT_TRUE(taken.block);
  db::Connection holding = connect();
  holding.execute("BEGIN; SELECT * FROM queue_bucket WHERE bucket_no = 1 FOR UPDATE");
  observer_.execute("UPDATE queue_bucket SET next_free = 4 WHERE bucket_no = 2");
  worker_.db.execute("SET SESSION innodb_lock_wait_timeout = 1");
  EXPECT_EQ(charge(taken.block->lease, 1).bucket_no, 2U);
  observer_.execute("UPDATE queue_bucket SET next_free = 3 WHERE bucket_no = 0");
  EXPECT_EQ(charge(taken.block->lease, 1).bucket_no, 0U) << "on either side of it";
  holding.execute("ROLLBACK");
}

// A session that waits for a bucket has only lower ones locked (charge_rate.sql): no two wait for
// each other.
TEST_F(RateTest, WorkerWithABucketReadsOnlyHigherOnes) {
  put(10);
  set_rate(observer_, queue_, rate("1000"));
  const auto taken = lease(worker_, 1);
  ASSERT_TRUE(taken.block);
  set_next_free("bucket_no");
  const auto read_backwards = [&] {
    auto shown = worker_.db.execute("SHOW SESSION STATUS LIKE 'Handler_read_prev'");
    return shown.front().next()->u64(1);
  };
  const std::uint64_t before = read_backwards();
  EXPECT_EQ(charge(taken.block->lease, 1).bucket_no, 0U);
  EXPECT_EQ(read_backwards() - before, 12U) << "the four above, by three statements";
}

// A client that is frozen while it reads the tasks holds neither the lease's row nor a bucket: each
// statement after COMMIT may take any time. A queue without a rate is leased by the same packet.
TEST_F(RateTest, NoRowIsLockedWhileTheTasksAreRead) {
  put(1);
  const support::TempDir folder;
  const support::RewritingProxy proxy(
      folder / "p", support::Database::shared().socket(), [](const std::string& sql) {
        return support::replaced(sql, "SELECT prio, run_key, first_key,",
                                 "SELECT prio + SLEEP(3), run_key, first_key,");
      });
  db::ConnectOptions through = support::Database::shared().options(name_);
  through.socket = proxy.socket();
  for (const bool rated : {false, true}) {
    if (rated) set_rate(observer_, queue_, rate("1000"));
    Worker slow{db::Connection(through)};
    auto taken = std::async(std::launch::async,
                            [&] { return rated ? lease(slow, 1).block : slow.lease(partition_); });
    EXPECT_TRUE(support::eventually(
        [&] { return value("SELECT state FROM q_lock_table LIMIT 1") == "LOCKED"; }));
    observer_.execute("SELECT * FROM q_lock_table FOR UPDATE NOWAIT");
    observer_.execute("SELECT * FROM queue_bucket FOR UPDATE NOWAIT");
    EXPECT_EQ(taken.wait_for(seconds(0)), std::future_status::timeout) << "it still reads";
    const auto block = taken.get();
    ASSERT_TRUE(block);
    EXPECT_EQ(block->tasks.size(), 1U);
    slow.leases.release(slow.db, block->lease);
  }
}

// Concurrent charges together get the allowed rate, by the database's own clock.
TEST_F(RateTest, ManyWhoChargeAtOnceGetNoMoreThanTheRate) {
  constexpr std::uint32_t kWorkers = 6;
  const QueueInfo wide = make_queue("wide", kWorkers);
  for (std::uint32_t no = 0; no < kWorkers; ++no) {
    for (std::uint64_t key = 1; key <= 60; ++key) put_row({wide.queue_id, no}, {1, key});
  }
  set_rate(observer_, wide, rate("1000"));
  fill_to_edge();
  const std::uint64_t began = number(std::string("SELECT ") + kNow);
  std::atomic<std::uint64_t> starts{0};
  std::vector<std::thread> threads;
  for (std::uint32_t no = 0; no < kWorkers; ++no) {
    threads.emplace_back([&, no] {
      Worker worker(connect());
      for (int i = 0; i < 60; ++i) {
        const auto taken =
            lease_rated(worker.db, worker.leases, {wide.queue_id, no}, {}, 5).value();
        starts += taken.granted.starts;
        if (taken.block) worker.leases.release(worker.db, taken.block->lease);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::uint64_t took_us = number(std::string("SELECT ") + kNow) - began;
  std::printf("%llu starts in %llu us\n", static_cast<unsigned long long>(starts.load()),
              static_cast<unsigned long long>(took_us));
  EXPECT_LE(starts, 200 + took_us / 1000 + 1);
  EXPECT_GT(starts, 200U);
}

}  // namespace
}  // namespace allot::queue
