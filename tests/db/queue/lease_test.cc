// SPDX-License-Identifier: Apache-2.0
// Rule: S19.
#include <algorithm>
#include <barrier>
#include <future>
#include <set>
#include <thread>

#include "base/clock.h"
#include "db/queue/fixture.h"
#include "queue/operate/limits.h"

namespace allot::queue {
namespace {

using std::chrono::seconds;

using LeaseTest = QueueTest;

TEST_F(LeaseTest, AFreePartitionIsLeasedWithItsTasks) {
  const std::vector<TaskId> ids = put(3);
  const auto block = worker_.lease(partition_);
  ASSERT_TRUE(block);
  EXPECT_EQ(block->lease.partition, partition_);
  EXPECT_EQ(block->lease.holder, worker_.leases.holder().id);
  EXPECT_FALSE(block->lease.suspects);
  ASSERT_EQ(block->tasks.size(), 3U);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    EXPECT_EQ(block->tasks[i].key, (TaskKey{1, ids[i].first_key}));
    EXPECT_EQ(block->tasks[i].payload, std::to_string(i));
    EXPECT_EQ(block->tasks[i].payload_size, 1U);
    EXPECT_EQ(block->tasks[i].type, "t");
    EXPECT_EQ(block->tasks[i].attempt, 0U);
    EXPECT_FALSE(block->tasks[i].first_key);
  }
}

TEST_F(LeaseTest, TheRowNamesItsHolderForPeople) {
  const Holder& holder = worker_.leases.holder();
  must_lease({.block_size = 7});
  EXPECT_EQ(value("SELECT CONCAT_WS(' ', state, lock_by, lock_origin, lock_host, lock_instance,"
                  " lock_pid, block_size) FROM q_lock_table"),
            "LOCKED " + std::to_string(holder.id) + " " + std::to_string(holder.origin) + " " +
                holder.host + " test " + std::to_string(holder.pid) + " 7");
  const std::uint64_t ttl_ms = number(
      "SELECT TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), expire_at) DIV 1000"
      " FROM q_lock_table");
  EXPECT_GT(ttl_ms, 20'000U);
  EXPECT_LE(ttl_ms, 30'000U);
}

TEST_F(LeaseTest, AnEmptyPartitionIsLeasedTooAndHasNoTasks) {
  EXPECT_TRUE(must_lease().tasks.empty());
}

TEST_F(LeaseTest, TheBlockIsBoundedAndInOrderOfClassAndTime) {
  put(2, 3);
  put(2, 0);
  put(2, 1);
  const Block block = must_lease({.block_size = 5});
  ASSERT_EQ(block.tasks.size(), 5U);
  EXPECT_TRUE(std::is_sorted(block.tasks.begin(), block.tasks.end(),
                             [](const Task& a, const Task& b) { return a.key < b.key; }));
  EXPECT_EQ(block.tasks.front().key.prio, 0U);
  EXPECT_EQ(block.tasks.back().key.prio, 3U);
}

TEST_F(LeaseTest, ALeasedPartitionIsClosedToOthers) {
  const Block block = must_lease();
  Worker other(connect());
  EXPECT_FALSE(other.lease(partition_));
  EXPECT_TRUE(worker_.leases.renew(worker_.db, block.lease)) << "the attempt changed nothing";
  EXPECT_FALSE(other.lease(partition_)) << "EXTENDED is not FREE either";
}

// The session that locks the row may do so for a long time, and there are other partitions.
TEST_F(LeaseTest, ALeaseWhoseRowIsLockedIsNotWaitedFor) {
  put(1);
  db::Connection holding = connect();
  holding.execute("BEGIN; SELECT * FROM q_lock_table FOR UPDATE");
  worker_.db.execute("SET SESSION innodb_lock_wait_timeout = 60");
  const std::uint64_t waits = counter("Innodb_row_lock_waits");
  EXPECT_FALSE(worker_.leases.lease(worker_.db, partition_, {}, Locked::kSkip));
  EXPECT_EQ(counter("Innodb_row_lock_waits"), waits);
  auto waited = std::async(std::launch::async, [&] { return worker_.lease(partition_); });
  EXPECT_TRUE(lock_waits(1));
  holding.execute("COMMIT");
  EXPECT_TRUE(waited.get());
  EXPECT_TRUE(worker_.leases.lease(worker_.db, partition_, {}, Locked::kSkip)) << "its own";
}

TEST_F(LeaseTest, APartitionThatDoesNotExistIsNotLeased) {
  EXPECT_FALSE(worker_.lease({queue_.queue_id, 77}));
}

TEST_F(LeaseTest, AHeldBackPartitionWaits) {
  observer_.execute("UPDATE q_lock_table SET defer_until = UTC_TIMESTAMP(6) + INTERVAL 1 HOUR");
  EXPECT_FALSE(worker_.lease(partition_));
  observer_.execute(
      "UPDATE q_lock_table SET defer_until = UTC_TIMESTAMP(6) - INTERVAL 1 MICROSECOND");
  EXPECT_TRUE(worker_.lease(partition_));
}

// Hints may be older than the pause; a worker that has the partition already keeps it.
TEST_F(LeaseTest, APausedQueueIsNotLeased) {
  put(1);
  pause(observer_, queue_, "maintenance");
  EXPECT_FALSE(worker_.lease(partition_));
  pause(observer_, make_queue("other", 1), "");
  ASSERT_TRUE(resume(observer_, queue_));
  EXPECT_FALSE(resume(observer_, queue_));
  ASSERT_TRUE(worker_.lease(partition_));
  pause(observer_, queue_, "");
  EXPECT_TRUE(worker_.lease(partition_)) << "sent again after a lost reply: taken again";
}

// S2, also for a row that a failover reset to an older epoch.
TEST_F(LeaseTest, AnEpochNeverRepeats) {
  std::uint64_t last = 0;
  for (int i = 0; i < 50; ++i) {
    const Block block = must_lease();
    EXPECT_GT(block.lease.epoch, last);
    last = block.lease.epoch;
    ASSERT_TRUE(worker_.leases.release(worker_.db, block.lease));
    if (i % 5 == 0) observer_.execute("UPDATE q_lock_table SET epoch = 3");
  }
  // The same with a clock that was set back: the epoch still grows.
  worker_.db.execute("SET timestamp = 1750000000");
  EXPECT_GT(must_lease().lease.epoch, last);
}

// The lease is taken again: its first expiry is older than the holder could know, because the
// holder counts from the call whose reply it received.
TEST_F(LeaseTest, ALostReplyIsHealedByTheSameCall) {
  put(2);
  const Block first = must_lease();
  observer_.execute("UPDATE q_lock_table SET expire_at = UTC_TIMESTAMP(6) + INTERVAL 1 SECOND");
  const auto again = worker_.lease(partition_);
  ASSERT_TRUE(again);
  EXPECT_GT(again->lease.epoch, first.lease.epoch);
  EXPECT_EQ(again->tasks.size(), 2U);
  EXPECT_EQ(worker_.leases.held_epoch(worker_.db, partition_), again->lease.epoch);
  EXPECT_EQ(number("SELECT expire_at > UTC_TIMESTAMP(6) + INTERVAL 20 SECOND FROM q_lock_table"),
            1U);
}

TEST_F(LeaseTest, HeldEpochIsOnlyTheHolders) {
  EXPECT_EQ(worker_.leases.held_epoch(worker_.db, partition_), std::nullopt);
  const Block block = must_lease();
  Worker other(connect());
  EXPECT_EQ(other.leases.held_epoch(other.db, partition_), std::nullopt);
  worker_.leases.release(worker_.db, block.lease);
  EXPECT_EQ(worker_.leases.held_epoch(worker_.db, partition_), std::nullopt);
}

TEST_F(LeaseTest, RenewProlongsAndShowsIt) {
  const Block block = must_lease();
  observer_.execute("UPDATE q_lock_table SET expire_at = UTC_TIMESTAMP(6)");
  EXPECT_TRUE(worker_.leases.renew(worker_.db, block.lease));
  EXPECT_EQ(value("SELECT state FROM q_lock_table"), "EXTENDED");
  EXPECT_EQ(number("SELECT expire_at > UTC_TIMESTAMP(6) + INTERVAL 20 SECOND FROM q_lock_table"),
            1U);
}

// S1. With a release that kept the epoch, this renewal would lock the partition without a holder.
TEST_F(LeaseTest, ARenewalAfterTheReleaseFindsNothing) {
  const Block block = must_lease();
  EXPECT_TRUE(worker_.leases.release(worker_.db, block.lease));
  const std::string before = leases_as_text();
  EXPECT_FALSE(worker_.leases.renew(worker_.db, block.lease));
  EXPECT_EQ(leases_as_text(), before);
}

TEST_F(LeaseTest, AReleaseClearsTheHolderAndEndsTheEpoch) {
  const Block block = must_lease();
  EXPECT_TRUE(worker_.leases.release(worker_.db, block.lease));
  EXPECT_EQ(value("SELECT CONCAT_WS(' ', state, epoch, lock_by IS NULL, lock_origin IS NULL,"
                  " lock_host IS NULL, lock_instance IS NULL, lock_pid IS NULL,"
                  " expire_at <= UTC_TIMESTAMP(6)) FROM q_lock_table"),
            "FREE " + std::to_string(block.lease.epoch + 1) + " 1 1 1 1 1 1");
}

TEST_F(LeaseTest, OnlyOneOfManyGetsAPartition) {
  constexpr std::uint32_t kRacedFor = 64;
  constexpr std::size_t kWorkers = 4;
  const QueueInfo wide = make_queue("wide", kRacedFor);
  std::vector<std::set<std::uint32_t>> got(kWorkers);
  std::barrier start(kWorkers);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < kWorkers; ++i) {
    threads.emplace_back([&, i] {
      Worker worker(connect());
      for (std::uint32_t no = 0; no < kRacedFor; ++no) {
        start.arrive_and_wait();  // all request the same row at the same moment
        if (worker.lease({wide.queue_id, no})) got[i].insert(no);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::size_t leased = 0;
  std::set<std::uint32_t> all;
  for (const auto& mine : got) {
    leased += mine.size();
    all.insert(mine.begin(), mine.end());
  }
  EXPECT_EQ(all.size(), kRacedFor);
  EXPECT_EQ(leased, kRacedFor) << "a partition was leased twice";
}

using KillTest = QueueTest;

// S9: the last packet of a dead worker may still be executing.
TEST_F(KillTest, FormerConnectionsAreEnded) {
  db::Connection former = connect();
  const std::uint64_t here = former.server_id();
  kill_connections(worker_.db,
                   std::vector<FormerConnection>{{.id = 0, .server_id = here},
                                                 {.id = former.id(), .server_id = here},
                                                 {.id = UINT32_MAX, .server_id = here}});
  EXPECT_EQ(support::error_class_of([&] { former.execute("SELECT 1"); }), "gone");
  EXPECT_EQ(support::number_of(worker_.db, "SELECT 1"), 1U);
}

TEST_F(KillTest, AnIdFromBeforeTheServersStartIsNotKilled) {
  db::Connection innocent = connect();
  kill_connections(worker_.db,
                   std::vector<FormerConnection>{{.id = innocent.id(),
                                                  .server_id = innocent.server_id(),
                                                  .age = std::chrono::hours(24 * 365)}});
  EXPECT_EQ(support::number_of(innocent, "SELECT 1"), 1U);
}

TEST_F(KillTest, AnIdOfAnotherServerIsNotKilled) {
  db::Connection innocent = connect();
  kill_connections(worker_.db, std::vector<FormerConnection>{
                                   {.id = innocent.id(), .server_id = innocent.server_id() + 1}});
  EXPECT_EQ(support::number_of(innocent, "SELECT 1"), 1U);
}

TEST(KillAfterARestart, AYoungIdOfThePreviousRunIsNotKilled) {
  support::Database server;
  db::Connection killer(server.options());
  ASSERT_TRUE(support::eventually([&] { return support::server_counter(killer, "Uptime") > 2; }));
  db::Connection young(server.options());
  FormerConnection former{
      .id = young.id(), .server_id = young.server_id(), .uptime = server_uptime(young)};
  const Nanos opened = boot_ns();
  server.kill9();
  server.start();
  killer = db::Connection(server.options());
  db::Connection innocent(server.options());
  while (innocent.id() < young.id()) innocent = db::Connection(server.options());
  ASSERT_EQ(innocent.id(), young.id());
  former.age = std::chrono::nanoseconds(boot_ns() - opened);
  kill_connections(killer, {&former, 1});
  EXPECT_EQ(support::number_of(innocent, "SELECT 1"), 1U);
}

TEST(KillAfterARestart, ConnectionsFromServerStartAreEnded) {
  support::Database server;
  db::Connection killer(server.options());
  db::Connection first(server.options());
  const FormerConnection former{
      .id = first.id(), .server_id = first.server_id(), .uptime = server_uptime(first)};
  kill_connections(killer, {&former, 1});
  EXPECT_EQ(support::error_class_of([&] { first.execute("SELECT 1"); }), "gone");
}

}  // namespace
}  // namespace allot::queue
