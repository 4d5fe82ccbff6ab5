// SPDX-License-Identifier: Apache-2.0
#include "worker/lease/lease_keeper.h"

#include <future>
#include <memory>

#include "db/worker/lease_keeper_fixture.h"
#include "support/db_error.h"
#include "support/eventually.h"
#include "support/slot_runs.h"

namespace allot::worker {
namespace {

using std::chrono::milliseconds;
using support::eventually;

TEST_F(LeaseKeeperTest, RenewsForAsLongAsItHolds) {
  take(0);
  const Nanos first_deadline = keeper_.deadline_ns();
  std::string seen = expiry(0);
  for (int renewals = 0; renewals < 5; ++renewals) {
    ASSERT_TRUE(eventually([&] { return expiry(0) != seen; }));
    seen = expiry(0);
  }
  EXPECT_TRUE(eventually([&] { return keeper_.valid(); }));
  EXPECT_GT(keeper_.deadline_ns(), first_deadline);
  EXPECT_EQ(value("SELECT state FROM q_lock_table WHERE partition_no = 0"), "EXTENDED");
}

TEST_F(LeaseKeeperTest, SendsNothingAfterDrop) {
  const queue::Lease lease = take(0);
  const std::string first = expiry(0);
  ASSERT_TRUE(eventually([&] { return expiry(0) != first; }));
  keeper_.drop();
  ASSERT_TRUE(leases_.release(db_, lease));
  const std::string released = expiry(0);
  // Longer than two renewals would take.
  EXPECT_FALSE(eventually([&] { return expiry(0) != released; }, milliseconds(1500)));
  EXPECT_EQ(value("SELECT state FROM q_lock_table WHERE partition_no = 0"), "FREE");
  EXPECT_FALSE(keeper_.valid());
}

// Its reply may be lost, or another session may hold the lock that it waits for.
TEST_F(LeaseKeeperTest, AReleaseThatTakesLongIsRenewedFor) {
  take(0);
  keeper_.releasing();
  std::string seen = expiry(0);
  for (int renewals = 0; renewals < 3; ++renewals) {
    ASSERT_TRUE(eventually([&] { return expiry(0) != seen; }));
    seen = expiry(0);
  }
}

TEST_F(LeaseKeeperTest, ALeaseThatIsReleasedAlreadyIsNotLost) {
  const queue::Lease lease = take(0);
  keeper_.releasing();
  ASSERT_TRUE(leases_.release(db_, lease));
  const std::string released = expiry(0);
  // Longer than two renewals would take.
  EXPECT_FALSE(eventually([&] { return keeper_.lost(); }, milliseconds(1500)));
  EXPECT_EQ(expiry(0), released);
  EXPECT_EQ(raw_slot_->leases_lost, 0U);
  keeper_.drop();
  take(1);
  db_.execute("UPDATE q_lock_table SET epoch = epoch + 1, lock_by = 7 WHERE partition_no = 1");
  EXPECT_TRUE(eventually([&] { return keeper_.lost(); })) << "the next one";
}

TEST_F(LeaseKeeperTest, NoticesALostLease) {
  take(0);
  EXPECT_TRUE(keeper_.valid());
  db_.execute("UPDATE q_lock_table SET epoch = epoch + 1, lock_by = 7 WHERE partition_no = 0");
  EXPECT_TRUE(eventually([&] { return raw_slot_->leases_lost == 1; }));
  EXPECT_TRUE(keeper_.lost());
  EXPECT_FALSE(keeper_.valid());
  const std::string expire_at = expiry(0);
  EXPECT_FALSE(eventually([&] { return expiry(0) != expire_at; }, milliseconds(1000)));
}

// The block loop's write found it gone before a renewal did.
TEST_F(LeaseKeeperTest, ALostLeaseIsCountedOnceAndRenewedNoMore) {
  const queue::Lease lease = take(0);
  keeper_.lose(lease, "retry");
  EXPECT_TRUE(keeper_.lost());
  EXPECT_FALSE(keeper_.valid());
  wait_for_what_is_under_way();
  const std::string expire_at = expiry(0);
  EXPECT_FALSE(eventually([&] { return expiry(0) != expire_at; }, milliseconds(1000)));
  keeper_.lose(lease, "release");
  EXPECT_EQ(raw_slot_->leases_lost, 1U);
  take(1);
  EXPECT_TRUE(keeper_.valid()) << "another lease";
  db_.execute("UPDATE q_lock_table SET epoch = epoch + 1, lock_by = 7 WHERE partition_no = 1");
  EXPECT_TRUE(eventually([&] { return raw_slot_->leases_lost == 2; }));
}

TEST_F(LeaseKeeperTest, TheLeaseIsInDoubtBeforeItCanHaveExpired) {
  take(0);
  support::Database::shared().kill9();
  EXPECT_TRUE(eventually([&] { return !keeper_.valid(); }, milliseconds(5'000)));
  support::Database::shared().start();
}

TEST_F(LeaseKeeperTest, ContinuesWhenTheDatabaseIsBack) {
  const queue::Lease lease = take(0);
  support::Database::shared().kill9();
  support::Database::shared().start();
  db_ = support::Database::shared().connect(name_);
  EXPECT_TRUE(eventually([&] { return keeper_.valid(); }));
  keeper_.drop();
  EXPECT_TRUE(leases_.release(db_, lease)) << "no other worker had it";
}

TEST_F(LeaseKeeperTest, DoesNotRenewForATaskOverItsTime) {
  queue::Task task = task_at(5);
  const queue::Lease lease = take(0);
  const auto run = begin(lease, task, milliseconds(0));
  slot_.move_deadline(0, boot_ns(), ipc::Limit::kTime);
  EXPECT_TRUE(eventually([&] {
    return value("SELECT expire_at < UTC_TIMESTAMP(6) FROM q_lock_table WHERE partition_no = 0") ==
           "1";
  })) << "the lease must not outlive its task by a blind timer";
  keeper_.end(*run);
}

// B3: a promise that is kept, even if late, keeps the lease.
TEST_F(LeaseKeeperTest, RenewsAgainWhenTheTaskMayGoOn) {
  queue::Task task = task_at(5);
  const queue::Lease lease = take(0);
  const auto run = begin(lease, task, milliseconds(0));
  slot_.move_deadline(0, boot_ns(), ipc::Limit::kTime);
  wait_for_what_is_under_way();
  const std::string first = expiry(0);
  EXPECT_FALSE(eventually([&] { return expiry(0) != first; }, milliseconds(600)));
  slot_.move_deadline(0, boot_ns() + 60 * kSecond, ipc::Limit::kTime);
  EXPECT_TRUE(eventually([&] { return expiry(0) != first; }));
  EXPECT_TRUE(eventually([&] { return keeper_.valid(); }));
  keeper_.end(*run);
}

// The server neither answers nor refuses. Its clock is this machine's: while it is stopped, too,
// the holder must stop relying on the lease before it ends.
TEST_F(LeaseKeeperTest, AStalledServerIsLetGoOfBeforeItsClockEndsTheLease) {
  for (int round = 0; round < 3;) {
    const queue::Lease lease = take(0);
    const std::string first = expiry(0);
    ASSERT_TRUE(eventually([&] { return expiry(0) != first; })) << "it was renewed";
    // A renewal that the server finds when it wakes up comes too late for this lease.
    const Nanos before = keeper_.deadline_ns();
    const std::string ends = expiry(0);
    Nanos deadline = 0;
    std::uint64_t let_go = 0;
    {
      const support::Database::Stall stall(support::Database::shared());
      ASSERT_TRUE(eventually([&] { return !keeper_.valid(); }));
      deadline = keeper_.deadline_ns();
      // By the wall clock; this thread may be late to see it.
      let_go = (clock_ns(CLOCK_REALTIME) - (boot_ns() - deadline)) / kMicro;
    }
    keeper_.drop();
    leases_.release(db_, lease);
    if (deadline != before) continue;  // it was renewed once more
    ++round;
    EXPECT_EQ(value("SELECT '" + ends + "' > '1970-01-01' + INTERVAL " + std::to_string(let_go) +
                    " MICROSECOND"),
              "1");
  }
}

// The margin is measured recently by this holder, not guessed.
TEST_F(LeaseKeeperTest, ASlowAnswerWidensTheMarginForAWhile) {
  take(0);
  const auto margin = [&] {
    const auto renewed_from = [&] {
      return static_cast<Nanos>(std::stoull(value(
                 "SELECT TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), expire_at) FROM q_lock_table"
                 " WHERE partition_no = 0"))) *
             kMicro;
    };
    // Between two renewals: both ends of the lease, seen at the same time.
    for (;;) {
      const Nanos before = keeper_.deadline_ns();
      const Nanos left = renewed_from();
      const Nanos ends = boot_ns() + left;
      if (keeper_.deadline_ns() == before) return ends > before ? (ends - before) / kMilli : 0;
    }
  };
  const Nanos quick = margin();
  EXPECT_GE(quick, 100U) << "a tenth of the TTL";
  const auto after_a_slow_answer = [&] {
    db::Connection holding(options());
    holding.execute("BEGIN; SELECT * FROM q_lock_table WHERE partition_no = 0 FOR UPDATE");
    EXPECT_TRUE(support::wait_for_lock_waits(db_, 1));
    const Nanos began = boot_ns();
    EXPECT_TRUE(eventually([&] { return boot_ns() - began > 300 * kMilli; }));
    const Nanos deadline = keeper_.deadline_ns();
    holding.execute("COMMIT");
    EXPECT_TRUE(eventually([&] { return keeper_.deadline_ns() != deadline; }));
    const Nanos renewals = raw_slot_->lease_deadline_ns;
    EXPECT_TRUE(eventually([&] { return raw_slot_->lease_deadline_ns != renewals; }));
    return margin();
  };
  // An answer that took longer than a second is discarded, and not measured: then once more.
  Nanos slow = 0;
  for (int tries = 0; tries < 5 && slow < 400; ++tries) slow = after_a_slow_answer();
  EXPECT_GE(slow, 400U) << "the 300 ms come on top; the quick ones were " << quick;
}

// Otherwise a worker whose database is merely slow would be killed for it.
TEST_F(LeaseKeeperTest, WaitingForARenewalIsNotAFreeze) {
  // A renewal waits for a second; a late caller finds none active, and tries once more.
  bool waited = false;
  for (std::uint32_t tries = 0; tries < 4 && !waited; ++tries) {
    take(tries);
    db::Connection holding(options());
    holding.execute("BEGIN; SELECT * FROM q_lock_table WHERE partition_no = " +
                    std::to_string(tries) + " FOR UPDATE");
    ASSERT_TRUE(support::wait_for_lock_waits(db_, 1));
    EXPECT_FALSE(slot_.guarded());
    auto dropped = std::async(std::launch::async, [&] { keeper_.drop(); });
    const auto over = [&] {
      return dropped.wait_for(milliseconds(0)) == std::future_status::ready;
    };
    EXPECT_TRUE(eventually([&] { return slot_.guarded() || over(); }));
    waited = slot_.guarded() && !over();
    holding.execute("COMMIT");
    dropped.get();
    EXPECT_FALSE(slot_.guarded());
  }
  EXPECT_TRUE(waited);
}

// The wait counts neither as the task's time nor for a detach.
TEST_F(LeaseKeeperTest, ATaskBeginsWhenTheRenewalUnderWayIsOver) {
  queue::Task task = task_at(5);
  const queue::Lease lease = take(0);
  db::Connection holding(options());
  holding.execute("BEGIN; SELECT * FROM q_lock_table WHERE partition_no = 0 FOR UPDATE");
  ASSERT_TRUE(support::wait_for_lock_waits(db_, 1));
  const auto run = run_of(lease, task);
  auto begun = std::async(std::launch::async, [&] {
    return eventually([&] { return begin(*run); });  // once it is renewed, if that took long
  });
  EXPECT_TRUE(eventually([&] { return slot_.guarded(); }));
  const Nanos over = boot_ns();
  holding.execute("COMMIT");
  ASSERT_TRUE(begun.get());
  EXPECT_GE(run->began_ns(), over);
  EXPECT_EQ(keeper_.end(*run), Place::kPartition);
}

// S5. The keeper does not detach it either while the block loop releases it.
TEST_F(LeaseKeeperTest, NoTaskBeginsInDoubt) {
  queue::Task task = task_at(5);
  const queue::Lease lease = take(0);
  board_->pools[0].bell.waiters = 1;
  keeper_.lose(lease, "test");
  EXPECT_FALSE(begin(*run_of(lease, task, milliseconds(1))));
  EXPECT_EQ(support::runs_in(*raw_slot_), 0U);
  EXPECT_FALSE(eventually([&] { return running() == "1"; }, milliseconds(500)));
}

// S5: it would be a useless start, because a handler must end with its lease.
TEST_F(LeaseKeeperTest, NoTaskBeginsInTheLastMomentsOfItsLease) {
  queue::Task task = task_at(5);
  const queue::Lease lease = take(0);
  support::Database::shared().kill9();  // so renewals fail
  const Nanos ttl = static_cast<Nanos>(leases_.ttl().count()) * kMicro;
  EXPECT_TRUE(eventually([&] {
    // An answer that took this long leaves half the TTL from its sending.
    keeper_.keep(lease, boot_ns() - ttl * 45 / 100);
    const auto run = run_of(lease, task);
    const bool begins = begin(*run);
    if (begins) keeper_.end(*run);
    return !begins && keeper_.valid();
  }));
  keeper_.drop();
  support::Database::shared().start();
}

TEST_F(LeaseKeeperTest, HoldsOneLeaseAfterTheOther) {
  for (int round = 0; round < 200; ++round) {
    const queue::Lease lease = take(static_cast<std::uint32_t>(round % 4));
    EXPECT_TRUE(keeper_.valid());
    keeper_.drop();
    ASSERT_TRUE(leases_.release(db_, lease));
  }
}

TEST_F(LeaseKeeperTest, DetachesWhatRunsLongAndRenewsIt) {
  queue::Task task = task_at(5);
  const queue::Lease lease = take(0);
  const auto run = begin(lease, task, milliseconds(10));
  ASSERT_TRUE(eventually([&] { return running() == "1"; }));
  EXPECT_EQ(value("SELECT state FROM q_lock_table WHERE partition_no = 0"), "FREE");
  std::string seen = value("SELECT expire_at FROM task_running");
  for (int renewals = 0; renewals < 3; ++renewals) {
    ASSERT_TRUE(eventually([&] { return value("SELECT expire_at FROM task_running") != seen; }));
    seen = value("SELECT expire_at FROM task_running");
  }
  EXPECT_TRUE(eventually([&] { return keeper_.valid(*run); }));
  EXPECT_FALSE(keeper_.valid()) << "the partition is anybody's";
  EXPECT_EQ(slot_.state(0), ipc::RunState::kRunningDetached);
  EXPECT_EQ(board_->pools[0].bell.rings, 1U) << "its neighbours are anybody's";
  EXPECT_EQ(keeper_.end(*run), Place::kDetached);
  seen = value("SELECT expire_at FROM task_running");
  EXPECT_FALSE(eventually([&] { return value("SELECT expire_at FROM task_running") != seen; },
                          milliseconds(1500)));
}

TEST_F(LeaseKeeperTest, DetachesEarlierWhenWorkersAreIdle) {
  queue::Task task = task_at(5);
  const queue::Lease lease = take(0);
  const auto run = begin(lease, task, milliseconds(3'600'000));
  EXPECT_FALSE(eventually([&] { return running() == "1"; }, milliseconds(500)));
  board_->pools[0].bell.waiters = 1;
  EXPECT_TRUE(eventually([&] { return running() == "1"; }));
  EXPECT_EQ(keeper_.end(*run), Place::kDetached);
}

TEST_F(LeaseKeeperTest, IdleWorkersOfOtherPoolsAreNoReasonToDetach) {
  queue::Task task = task_at(5);
  const std::uint32_t another = queue_.queue_id + 1;
  peer::serve(board_->pools[1], {&another, 1});
  board_->pools[1].bell.waiters = 1;
  const queue::Lease lease = take(0);
  const auto run = begin(lease, task, milliseconds(3'600'000));
  EXPECT_FALSE(eventually([&] { return running() == "1"; }, milliseconds(500)));
  EXPECT_EQ(keeper_.end(*run), Place::kPartition);
}

TEST_F(LeaseKeeperTest, NeverDetachesWhereItIsOff) {
  queue::Task task = task_at(5);
  const queue::Lease lease = take(0);
  board_->pools[0].bell.waiters = 1;
  const auto run = begin(lease, task, milliseconds(0));
  EXPECT_FALSE(eventually([&] { return running() == "1"; }, milliseconds(500)));
  EXPECT_EQ(keeper_.end(*run), Place::kPartition);
  EXPECT_TRUE(eventually([&] { return keeper_.valid(); }));
}

TEST_F(LeaseKeeperTest, DetachesNothingOfALostLease) {
  queue::Task task = task_at(5);
  const queue::Lease lease = take(0);
  db_.execute("UPDATE q_lock_table SET epoch = epoch + 1, lock_by = 7 WHERE partition_no = 0");
  const auto run = run_of(lease, task, milliseconds(10));
  EXPECT_TRUE(begin(*run) || keeper_.lost());
  EXPECT_TRUE(eventually([&] { return keeper_.lost(); }));
  EXPECT_EQ(running(), "0");
  EXPECT_EQ(keeper_.end(*run), Place::kPartition);
}

TEST_F(LeaseKeeperTest, NoticesThatADetachedTaskWasRecovered) {
  queue::Task task = task_at(5);
  const queue::Lease lease = take(0);
  const auto run = begin(lease, task, milliseconds(10));
  ASSERT_TRUE(eventually([&] { return running() == "1"; }));
  db_.execute("UPDATE task_running SET epoch = epoch + 1, lock_by = 7");
  EXPECT_TRUE(eventually([&] { return raw_slot_->leases_lost == 1; }));
  EXPECT_TRUE(eventually([&] { return !keeper_.valid(*run); }));
  EXPECT_EQ(keeper_.end(*run), Place::kDetached);
}

// The database goes away in the middle: the worker learns the result of the detach when it is back.
TEST_F(LeaseKeeperTest, ADetachWithoutAReplyIsFoundOut) {
  queue::Task task = task_at(5);
  const queue::Lease lease = take(0);
  db::Connection stall = support::Database::shared().connect(name_);
  stall.execute("BEGIN; SELECT * FROM task FOR UPDATE");
  const auto run = begin(lease, task, milliseconds(10));
  ASSERT_TRUE(eventually(
      [&] { return support::server_counter(db_, "Innodb_row_lock_current_waits") >= 1; }));
  // Its call ends after a second; the server continues executing.
  ASSERT_TRUE(eventually([&] { return keeper_.lost() || !keeper_.valid(); }));
  const Place place = keeper_.end(*run);
  EXPECT_EQ(place, Place::kUnknown);
  auto again = std::async(std::launch::async, [&] {
    db::Connection own(options());
    return stores_.detached.detach(own, queue::fence(lease, task), 1, {});
  });
  stall.execute("ROLLBACK");
  EXPECT_EQ(again.get(), queue::Fenced::kWritten);
  EXPECT_EQ(running(), "1");
  EXPECT_EQ(value("SELECT COUNT(*) FROM task"), "0");
}

}  // namespace
}  // namespace allot::worker
