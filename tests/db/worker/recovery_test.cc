// SPDX-License-Identifier: Apache-2.0
// Rules: S11, S20.
#include "worker/settle/recovery.h"

#include <memory>

#include "db/stores.h"
#include "db/worker/fixture.h"
#include "peer/doorbell.h"
#include "support/eventually.h"

namespace allot::worker {
namespace {

using std::chrono::milliseconds;
using support::eventually;

class RecoveryTest : public WorkerTest {
 protected:
  RecoveryTest()
      : lost_(milliseconds(1000), queue::make_holder("test", "/gone")),
        longer_(std::chrono::seconds(30), queue::make_holder("test", "/longer")),
        stores_(milliseconds(1000)),
        board_(std::make_unique<ipc::Board>()),
        session_(options(), slot_, milliseconds(1000)) {
    settings_.daemon.lease_ttl = milliseconds(1000);
    peer::serve(board_->pools[0], {&queue_.queue_id, 1});
    config::Queue queue;
    queue.name = "q";
    queue.max_attempts = 3;
    settings_.queues.push_back(queue);
  }

  // A task of another host during its attempt `attempt`.
  queue::Fence detach(std::uint32_t attempt) { return detach(lost_, attempt); }
  queue::Fence detach(const queue::Stores& by, std::uint32_t attempt) {
    put(partition(0), {1, 1});
    db_.execute("UPDATE task SET attempt = " + std::to_string(attempt - 1));
    const auto block = by.leases.lease(db_, partition(0), {});
    EXPECT_EQ(by.detached.detach(db_, queue::fence(block->lease, block->tasks.at(0)), attempt, {}),
              queue::Fenced::kWritten);
    return queue::fence(block->lease, block->tasks[0]).once_detached();
  }
  Recovery recovery() { return {session_, stores_.detached, settings_, {queue_}, slot_, *board_}; }
  std::string running() { return value("SELECT COUNT(*) FROM task_running"); }

  config::Settings settings_;
  queue::Stores lost_;
  queue::Stores longer_;
  queue::Stores stores_;
  std::unique_ptr<ipc::Board> board_;
  process::Session session_;
};

TEST_F(RecoveryTest, ChargesAndPutsBackWhatStoodStill) {
  detach(1);
  meter::Record record{};
  meter::Meter meter(record);
  slot_.use(&meter);
  Recovery scout = recovery();
  ASSERT_TRUE(eventually([&] {
    scout.run_due();
    return running() == "0";
  }));
  EXPECT_EQ(record.events[static_cast<std::size_t>(meter::Event::kRecovered)], 1U);
  EXPECT_EQ(value("SELECT CONCAT(run_key, ':', attempt) FROM task"), "1:1");
  EXPECT_EQ(value("SELECT cause FROM task_attempt"), "lost");
  EXPECT_EQ(board_->pools[0].bell.rings, 1U);
}

TEST_F(RecoveryTest, TheLastAttemptBuries) {
  detach(3);
  Recovery scout = recovery();
  ASSERT_TRUE(eventually([&] {
    scout.run_due();
    return running() == "0";
  }));
  EXPECT_EQ(value("SELECT CONCAT(attempt, ' ', cause) FROM task_dead"), "3 lost");
}

// It may have two attempts, while the queue permits three.
TEST_F(RecoveryTest, TheLimitOfTheTaskCounts) {
  detach(2);
  db_.execute("UPDATE task_running SET headers = 'max_attempts=2'");
  Recovery scout = recovery();
  ASSERT_TRUE(eventually([&] {
    scout.run_due();
    return running() == "0";
  }));
  EXPECT_EQ(value("SELECT CONCAT(attempt, headers) FROM task_dead"), "2max_attempts=2");
}

TEST_F(RecoveryTest, LeavesAloneWhatIsRenewed) {
  const queue::Fence detached = detach(1);
  Recovery scout = recovery();
  EXPECT_FALSE(eventually(
      [&] {
        EXPECT_TRUE(lost_.detached.renew(db_, detached));
        scout.run_due();
        return running() == "0";
      },
      milliseconds(2500)));
}

// S4: its holder renews it every ten seconds; this process would renew it every third of a second.
TEST_F(RecoveryTest, LeavesAloneWhatLastsLonger) {
  detach(longer_, 1);
  Recovery scout = recovery();
  EXPECT_FALSE(eventually(
      [&] {
        scout.run_due();
        return running() == "0";
      },
      milliseconds(2500)));
  db_.execute("UPDATE task_running SET ttl_us = 1000000");
  EXPECT_TRUE(eventually([&] {
    scout.run_due();
    return running() == "0";
  })) << "its own TTL is what counts";
}

// S4: expired by the database's clock is not enough; this process must have seen it unchanged.
TEST_F(RecoveryTest, TakesNothingAtFirstSight) {
  detach(1);
  db_.execute(
      "UPDATE task_running SET ttl_us = 60000000, expire_at = UTC_TIMESTAMP(6) - INTERVAL 1 HOUR");
  Recovery scout = recovery();
  for (int looks = 0; looks < 10; ++looks) scout.run_due();
  EXPECT_EQ(running(), "1");
}

// S4: its holder had the same outage, and needs time to come back.
TEST_F(RecoveryTest, AfterAnOutageWhatWasSeenBeforeItDoesNotCount) {
  constexpr Nanos kHalf = 3 * kSecond;
  detach(1);
  db_.execute(
      "UPDATE task_running SET ttl_us = 6000000, expire_at = UTC_TIMESTAMP(6) - INTERVAL 1 HOUR");
  Recovery scout = recovery();
  const auto look = [&] {
    scout.run_due();
    return running() == "0";
  };
  ASSERT_FALSE(eventually(look, milliseconds(500)));
  const Nanos cut = boot_ns();
  db_.execute("KILL " + std::to_string(raw_slot_->connection_ids[0].load()));
  ASSERT_TRUE(eventually(look));
  EXPECT_EQ(session_.generation(), 1U);
  EXPECT_GE(boot_ns() - cut, kHalf);
}

TEST_F(RecoveryTest, AFormerLifesTasksAreReclaimedAtOnce) {
  detach(1);
  reclaim_detached(db_, settings_, stores_.detached);
  EXPECT_EQ(running(), "1") << "they are of another instance";
  reclaim_detached(db_, settings_, lost_.detached);
  EXPECT_EQ(running(), "0");
  EXPECT_EQ(value("SELECT CONCAT(run_key, ':', attempt) FROM task"), "1:1");
}

}  // namespace
}  // namespace allot::worker
