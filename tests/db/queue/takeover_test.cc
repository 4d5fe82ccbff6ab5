// SPDX-License-Identifier: Apache-2.0
#include "db/queue/fixture.h"
#include "queue/model/server_change.h"
#include "queue/operate/limits.h"

namespace allot::queue {
namespace {

class TakeoverTest : public QueueTest {
 protected:
  Observation must_see() {
    auto seen = LeaseStore::watch(observer_, std::vector{queue_.queue_id});
    if (seen.size() != 1) throw std::runtime_error("not one lease that is taken");
    return seen.front();
  }
  void expire() {
    observer_.execute("UPDATE q_lock_table SET expire_at = UTC_TIMESTAMP(6) - INTERVAL 1 SECOND");
  }

  Worker thief_{connect()};
};

TEST_F(TakeoverTest, WatchShowsWhatIsTaken) {
  EXPECT_TRUE(LeaseStore::watch(observer_, std::vector{queue_.queue_id}).empty());
  const Block block = must_lease();
  Observation seen = must_see();
  const Holder& holder = worker_.leases.holder();
  EXPECT_EQ(seen.partition, partition_);
  EXPECT_EQ(seen.epoch, block.lease.epoch);
  EXPECT_FALSE(seen.expired);
  EXPECT_GT(seen.remaining, std::chrono::seconds(20));
  EXPECT_EQ(seen.ttl, std::chrono::seconds(30));
  EXPECT_EQ(seen.holder, holder.host + "/test/" + std::to_string(holder.pid));
  worker_.leases.renew(worker_.db, block.lease);
  EXPECT_NE(must_see().expire_at, seen.expire_at) << "a renewal is a heartbeat";
  expire();
  seen = must_see();
  EXPECT_TRUE(seen.expired);
  EXPECT_EQ(seen.remaining.count(), 0);
  EXPECT_TRUE(LeaseStore::watch(observer_, std::vector{queue_.queue_id + 1}).empty());
  EXPECT_TRUE(LeaseStore::watch(observer_, {}).empty());
}

// S4: a lease contains its duration, unless the row was written by an older Allot, which renews the
// epoch with each lease and leaves the rest of the row.
TEST_F(TakeoverTest, ALeaseSaysHowLongItLasts) {
  must_lease();
  Worker shorter(connect(), 0, std::chrono::seconds(2));
  ASSERT_TRUE(shorter.steal(partition_));
  EXPECT_EQ(must_see().ttl, std::chrono::seconds(2));
  observer_.execute("UPDATE q_lock_table SET epoch = epoch + 1");
  EXPECT_FALSE(must_see().ttl);
  const auto taken = worker_.steal(partition_);
  ASSERT_TRUE(taken);
  EXPECT_EQ(must_see().ttl, std::chrono::seconds(30));
  EXPECT_TRUE(worker_.leases.renew(worker_.db, taken->lease));
  EXPECT_EQ(must_see().ttl, std::chrono::seconds(30));
}

TEST_F(TakeoverTest, AnExpiredLeaseIsTakenAndItsBlockSuspected) {
  const auto ids = put(2);
  const Block former = must_lease({.block_size = 7});
  expire();
  const auto block = thief_.leases.take_over(thief_.db, must_see(), false, {.block_size = 3});
  ASSERT_TRUE(block);
  EXPECT_GT(block->lease.epoch, former.lease.epoch);
  EXPECT_EQ(block->tasks.size(), 2U);
  ASSERT_TRUE(block->lease.suspects);
  EXPECT_EQ(block->lease.suspects->per_class, 7U) << "the dead holder's block, not the thief's";
  EXPECT_GE(block->lease.suspects->to_key, ids.back().first_key);
  EXPECT_EQ(value("SELECT block_size FROM q_lock_table"), "3");
  EXPECT_FALSE(worker_.leases.renew(worker_.db, former.lease));
}

TEST_F(TakeoverTest, ALeaseThatIsNotExpiredIsLeftAlone) {
  must_lease();
  const Observation seen = must_see();
  EXPECT_FALSE(thief_.leases.take_over(thief_.db, seen, false, {}));
  EXPECT_TRUE(thief_.leases.take_over(thief_.db, seen, true, {}))
      << "unless it stalled for longer than the lease lasts (S4)";
}

TEST_F(TakeoverTest, ARenewedLeaseIsLeftAlone) {
  const Block block = must_lease();
  expire();
  const Observation seen = must_see();
  ASSERT_TRUE(worker_.leases.renew(worker_.db, block.lease));
  EXPECT_FALSE(thief_.leases.take_over(thief_.db, seen, false, {}));
  EXPECT_FALSE(thief_.leases.take_over(thief_.db, seen, true, {})) << "it moved since it was seen";
}

TEST_F(TakeoverTest, ALeaseOfALaterEpochIsLeftAlone) {
  const Block block = must_lease();
  expire();
  const Observation seen = must_see();
  ASSERT_TRUE(worker_.leases.release(worker_.db, block.lease));
  EXPECT_FALSE(thief_.leases.take_over(thief_.db, seen, true, {})) << "free: to be leased instead";
  must_lease();
  observer_.execute("UPDATE q_lock_table SET expire_at = '" + seen.expire_at + "'");
  EXPECT_FALSE(thief_.leases.take_over(thief_.db, seen, true, {}));
}

TEST_F(TakeoverTest, APausedQueueIsLeftAlone) {
  must_lease();
  expire();
  const Observation seen = must_see();
  pause(observer_, queue_, "");
  EXPECT_FALSE(thief_.leases.take_over(thief_.db, seen, true, {}));
  resume(observer_, queue_);
  EXPECT_TRUE(thief_.leases.take_over(thief_.db, seen, true, {}));
}

// S48: for the duration of the lease, whatever the thief's own TTL is, and a second more. The
// statement itself enforces it, whether its process knows of the change or not.
TEST_F(TakeoverTest, AfterAChangeOfServerALeaseIsLeftAloneForAsLongAsItLasts) {
  must_lease();
  expire();
  const Observation seen = must_see();
  const auto change = [&](const std::string& ago) {
    observer_.execute("UPDATE server_identity SET since = UTC_TIMESTAMP(6) - INTERVAL " + ago +
                      " MICROSECOND");
  };
  note_server(observer_);
  observer_.execute("UPDATE server_identity SET identity = 'another one'");
  Worker thief(connect(), 0, std::chrono::seconds(2));
  EXPECT_FALSE(thief.leases.take_over(thief.db, seen, false, {}));
  EXPECT_EQ(value("SELECT CONCAT(term, ' ', streak) FROM server_identity"), "2 1")
      << "it has written down what it found";
  EXPECT_EQ(value("SELECT since > UTC_TIMESTAMP(6) - INTERVAL 1 MINUTE FROM server_identity"), "1");
  change("29000000");
  EXPECT_FALSE(thief.leases.take_over(thief.db, seen, false, {}));
  EXPECT_FALSE(thief.leases.take_over(thief.db, seen, true, {})) << "a stale one just as well";
  change("31000001");
  EXPECT_TRUE(thief.leases.take_over(thief.db, seen, false, {}));
  EXPECT_EQ(number("SELECT term FROM server_identity"), 2U);
}

// The clock was set back after the change: otherwise its time would end in an hour.
TEST_F(TakeoverTest, AChangeOfServerInTheFutureIsNowAndNoFurtherChange) {
  EXPECT_FALSE(note_server(observer_));
  observer_.execute("UPDATE server_identity SET since = UTC_TIMESTAMP(6) + INTERVAL 1 HOUR");
  EXPECT_TRUE(note_server(observer_));
  EXPECT_EQ(value("SELECT CONCAT(term, since <= UTC_TIMESTAMP(6)) FROM server_identity"), "11");
  EXPECT_FALSE(note_server(observer_));
}

TEST_F(TakeoverTest, ChangesThatFollowEachOtherAreCounted) {
  const auto change = [&](const std::string& ago) {
    observer_.execute(
        "UPDATE server_identity SET identity = 'another one', since = UTC_TIMESTAMP(6)"
        " - INTERVAL " +
        ago);
    EXPECT_TRUE(note_server(observer_));
    return last_server_change(observer_)->streak;
  };
  EXPECT_EQ(last_server_change(observer_), std::nullopt);
  note_server(observer_);
  EXPECT_EQ(change("1 DAY"), 1U);
  EXPECT_EQ(change("9 MINUTE"), 2U);
  EXPECT_EQ(change("9 MINUTE"), 3U);
  EXPECT_EQ(change("11 MINUTE"), 1U);
  const auto last = last_server_change(observer_);
  EXPECT_EQ(last->number, 5U);
  EXPECT_LE(last->ago, std::chrono::seconds(60));
  EXPECT_NE(last->server.find(':'), std::string::npos) << last->server;
}

TEST_F(TakeoverTest, OnlyOneOfTwoTakeoversSucceeds) {
  must_lease();
  expire();
  const Observation seen = must_see();
  Worker second(connect());
  EXPECT_TRUE(thief_.leases.take_over(thief_.db, seen, false, {}));
  EXPECT_FALSE(second.leases.take_over(second.db, seen, false, {}));
  EXPECT_FALSE(second.leases.take_over(second.db, seen, true, {}));
}

TEST_F(TakeoverTest, ALeaseWhoseRowIsLockedIsNotWaitedFor) {
  must_lease();
  Worker thief(connect());
  const Observation seen = must_see();
  db::Connection holding = connect();
  holding.execute("BEGIN; SELECT * FROM q_lock_table FOR UPDATE");
  const std::uint64_t waits = counter("Innodb_row_lock_waits");
  EXPECT_FALSE(thief.leases.take_over(thief.db, seen, true, {}, Locked::kSkip));
  EXPECT_EQ(counter("Innodb_row_lock_waits"), waits);
  holding.execute("COMMIT");
  EXPECT_TRUE(thief.leases.take_over(thief.db, seen, true, {}, Locked::kSkip));
}

TEST_F(TakeoverTest, ALostReplyIsHealedByTheSameCall) {
  put(1);
  must_lease({.block_size = 5});
  expire();
  const Observation seen = must_see();
  const auto first = thief_.leases.take_over(thief_.db, seen, false, {});
  const auto again = thief_.leases.take_over(thief_.db, seen, false, {});
  ASSERT_TRUE(first && again);
  EXPECT_GT(again->lease.epoch, first->lease.epoch) << "taken again, with an expiry of now";
  EXPECT_EQ(again->lease.suspects->to_key, first->lease.suspects->to_key);
  EXPECT_EQ(again->lease.suspects->per_class, 5U) << "the dead holder's block, not its own";
}

// S7: the row names them, whichever worker leases the partition, until they have been marked.
TEST_F(TakeoverTest, SuspectsStayUntilTheyAreMarked) {
  put(1);
  must_lease({.block_size = 50});
  auto block = thief_.steal(partition_, {.block_size = 8});
  ASSERT_TRUE(block);
  EXPECT_EQ(block->lease.suspects->per_class, 50U);
  const std::uint64_t first_to = block->lease.suspects->to_key;

  Worker third(connect());
  block = third.steal(partition_, {.block_size = 8});
  ASSERT_TRUE(block);
  EXPECT_EQ(block->lease.suspects->per_class, 50U) << "the larger of the two blocks";
  EXPECT_GE(block->lease.suspects->to_key, first_to);

  ASSERT_TRUE(third.leases.release(third.db, block->lease));
  block = worker_.lease(partition_);
  ASSERT_TRUE(block);
  ASSERT_TRUE(block->lease.suspects) << "a clean release in between is not a verdict";
  EXPECT_EQ(block->lease.suspects->per_class, 50U);

  const auto suspects = find_suspects(worker_.db, partition_, *block->lease.suspects);
  EXPECT_EQ(mark_suspects(worker_.db, block->lease, suspects), Fenced::kWritten);
  EXPECT_EQ(mark_suspects(worker_.db, block->lease, suspects), Fenced::kWritten) << "a lost reply";
  ASSERT_TRUE(worker_.leases.release(worker_.db, block->lease));
  block = must_lease();
  EXPECT_FALSE(block->lease.suspects);
  ASSERT_EQ(block->tasks.size(), 1U);
  EXPECT_EQ(block->tasks.front().flags, kSuspectFlag) << "it has no verdict yet";
}

// S7: the due tasks come first in each class, whichever class the lost holder was processing.
TEST_F(TakeoverTest, AsManySuspectsOfEachClassAsTheBlockHadAreMarked) {
  for (const std::uint32_t prio : {0U, 2U}) {
    for (const std::uint64_t key : {1U, 2U, 3U}) put_row(partition_, {prio, key});
  }
  put_row(partition_, {3, 1});
  must_lease({.block_size = 2});
  const auto block = thief_.steal(partition_, {.block_size = 8});
  ASSERT_TRUE(block);
  // A task submitted after the death is not a suspect.
  put_row(partition_, {3, block->lease.suspects->to_key + 1});
  const auto suspects = find_suspects(thief_.db, partition_, *block->lease.suspects);
  EXPECT_EQ(value("SELECT COUNT(*) FROM task WHERE flags <> 0"), "0");
  EXPECT_EQ(mark_suspects(thief_.db, block->lease, suspects), Fenced::kWritten);
  EXPECT_EQ(value("SELECT GROUP_CONCAT(prio, ':', run_key ORDER BY prio, run_key) FROM task"
                  " WHERE flags = 1"),
            "0:1,0:2,2:1,2:2,3:1");
}

// A transaction that is too large would be refused each time.
TEST_F(TakeoverTest, LargeSuspectsAreMarkedInSeveralTransactions) {
  for (const std::uint64_t key : {1U, 2U, 3U}) put_row(partition_, {1, key});
  observer_.execute("UPDATE task SET payload = REPEAT('x', 9000000) WHERE queue_id > 0");
  must_lease({.block_size = 3});
  const auto block = thief_.steal(partition_, {.block_size = 3});
  ASSERT_TRUE(block);
  const auto suspects = find_suspects(thief_.db, partition_, *block->lease.suspects);
  const std::uint64_t before = support::server_counter(observer_, "Com_update");
  EXPECT_EQ(mark_suspects(thief_.db, block->lease, suspects), Fenced::kWritten);
  EXPECT_EQ(support::server_counter(observer_, "Com_update") - before, 4U)
      << "one for each, and one for the lease";
  EXPECT_EQ(value("SELECT COUNT(*) FROM task WHERE flags = 1"), "3");
}

// S11: a restarted daemon immediately frees the leases of its earlier run, and no others.
TEST_F(TakeoverTest, ReclaimFreesOnlyItsOwnOrigin) {
  constexpr std::uint64_t kOrigin = 4711;
  const QueueInfo wide = make_queue("wide", 4);
  Worker former(connect(), kOrigin);
  Worker stranger(connect(), kOrigin + 1);
  const auto lost = former.lease({wide.queue_id, 0}, {.block_size = 9});
  ASSERT_TRUE(lost && former.lease({wide.queue_id, 1}) && stranger.lease({wide.queue_id, 2}));

  Worker restarted(connect(), kOrigin);
  EXPECT_EQ(restarted.leases.reclaim(restarted.db), 2U);
  EXPECT_EQ(value("SELECT GROUP_CONCAT(state ORDER BY partition_no) FROM q_lock_table"
                  " WHERE queue_id = " +
                  std::to_string(wide.queue_id)),
            "FREE,FREE,LOCKED,FREE");
  const auto block = restarted.lease({wide.queue_id, 0});
  ASSERT_TRUE(block);
  EXPECT_GT(block->lease.epoch, lost->lease.epoch);
  ASSERT_TRUE(block->lease.suspects) << "what was in flight may have brought the host down";
  EXPECT_EQ(block->lease.suspects->per_class, 9U);
  EXPECT_FALSE(former.leases.renew(former.db, lost->lease));
  EXPECT_FALSE(restarted.lease({wide.queue_id, 3})->lease.suspects);

  EXPECT_EQ(Worker(connect(), kOrigin + 2).leases.reclaim(observer_), 0U);
}

}  // namespace
}  // namespace allot::queue
