// SPDX-License-Identifier: Apache-2.0
// Verbs of named locks: acquired in the order of arrival, renewed, released and freed like a lease
// (S38), with tokens that only grow (S40).
#include <thread>

#include "db/late_look.h"
#include "db/queue/fixture.h"
#include "queue/locks/lock_keeper.h"
#include "queue/locks/lock_store.h"
#include "queue/locks/lock_wait.h"
#include "queue/model/server_change.h"

namespace allot::queue {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const std::string kName = "nightly";

class LockTest : public QueueTest {
 protected:
  LockTest() { note_server(observer_); }
  static Holder someone() { return make_holder("", ""); }
  // Acquires the next lock in line for a new holder.
  std::optional<HeldLock> take(std::uint32_t slot = 0, milliseconds ttl = seconds(30)) {
    const Holder holder = someone();
    const std::uint64_t ticket = draw_ticket(observer_, kName, holder);
    auto taken = take_lock(observer_, {kName, slot, ticket, holder, ttl}, floor_);
    if (!taken) return_ticket(observer_, holder);
    return taken;
  }
  std::uint64_t held() { return number("SELECT COUNT(*) FROM named_lock WHERE state <> 'FREE'"); }
  std::uint64_t tickets() { return number("SELECT COUNT(*) FROM lock_ticket"); }
  // The single held slot, as a poll sees it.
  LockObservation observed() {
    auto seen = watch_lock(observer_, kName);
    EXPECT_EQ(seen.size(), 1U);
    return seen.front();
  }
  void move_clock_of_row(const std::string& interval) {
    observer_.execute("UPDATE named_lock SET expire_at = expire_at + INTERVAL " + interval +
                      " WHERE state <> 'FREE'");
  }
  // Another server wrote last, this long ago; the present one, or again another one.
  void server_changed(const std::string& us_ago) {
    observer_.execute("UPDATE server_identity SET since = UTC_TIMESTAMP(6) - INTERVAL " + us_ago +
                      " MICROSECOND");
  }

  TokenFloor floor_;
};

TEST_F(LockTest, ItHasTheSlotsOfItsFirstUser) {
  EXPECT_FALSE(lock_slots(observer_, kName));
  EXPECT_EQ(ensure_lock(observer_, kName, 3), 3U);
  EXPECT_EQ(ensure_lock(observer_, kName, 3), 3U);
  EXPECT_EQ(ensure_lock(observer_, kName, std::nullopt), 3U);
  EXPECT_EQ(ensure_lock(observer_, "other", std::nullopt), 1U);
  EXPECT_EQ(number("SELECT COUNT(*) FROM named_lock WHERE name = 'nightly'"), 3U);
  try {
    ensure_lock(observer_, kName, 5);
    FAIL() << "two clients with different numbers";
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), kExitBadInput);
    EXPECT_NE(std::string(error.what()).find("has 3"), std::string::npos) << error.what();
  }
  EXPECT_EQ(ensure_lock(observer_, "most", kMaxSlots), kMaxSlots);
  EXPECT_EQ(number("SELECT COUNT(*) FROM named_lock WHERE name = 'most' AND epoch = slot"),
            kMaxSlots);
}

TEST_F(LockTest, InvalidLockNameIsRefused) {
  const auto refused = [](const LockSpec& spec, const std::string& field) {
    try {
      validate(spec);
      ADD_FAILURE() << field;
    } catch (const Error& error) {
      EXPECT_EQ(error.exit_code(), kExitBadInput);
      EXPECT_EQ(std::string(error.what()).rfind(field, 0), 0U) << error.what();
    }
  };
  refused({.name = ""}, "name");
  refused({.name = std::string(256, 'x')}, "name");
  refused({.name = "x", .slots = 0}, "slots");
  refused({.name = "x", .slots = 1025}, "slots");
  refused({.name = "x", .ttl = milliseconds(999)}, "ttl");
  refused({.name = "x", .ttl = std::chrono::hours(25)}, "ttl");
  validate({.name = std::string(255, 'x'), .slots = 1024, .ttl = seconds(1)});
}

TEST_F(LockTest, OneHasItAtATime) {
  ensure_lock(observer_, kName, 1);
  const auto first = take();
  ASSERT_TRUE(first);
  EXPECT_FALSE(take());
  EXPECT_EQ(tickets(), 0U);
  EXPECT_TRUE(renew_lock(observer_, *first));
  EXPECT_EQ(value("SELECT state FROM named_lock"), "EXTENDED");
  EXPECT_TRUE(release_lock(observer_, *first));
  EXPECT_FALSE(renew_lock(observer_, *first));
  EXPECT_FALSE(release_lock(observer_, *first));
  const auto second = take();
  ASSERT_TRUE(second);
  EXPECT_GT(second->token, first->token);
  EXPECT_FALSE(renew_lock(observer_, *first));
  EXPECT_FALSE(release_lock(observer_, *first));
  EXPECT_EQ(held(), 1U);
}

TEST_F(LockTest, NamesAreBytes) {
  for (const std::string& name : {std::string("a"), std::string("a "), std::string("A"),
                                  std::string("a\0b", 3), std::string("\xff'\\")}) {
    EXPECT_EQ(ensure_lock(observer_, name, 1), 1U);
    const Holder holder = someone();
    const auto ticket = draw_ticket(observer_, name, holder);
    EXPECT_TRUE(take_lock(observer_, {name, 0, ticket, holder, seconds(30)}, floor_));
  }
  EXPECT_EQ(list_locks(observer_).size(), 5U);
}

TEST_F(LockTest, ATokenNamesItsSlotAndNoOtherHasIt) {
  ensure_lock(observer_, kName, 1024);
  const auto first = take(1023);
  const auto second = take(5);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->token % 1024, 1023U);
  EXPECT_EQ(second->token % 1024, 5U);
  ASSERT_TRUE(release_lock(observer_, *first));
  const auto third = take(1023);
  ASSERT_TRUE(third);
  EXPECT_EQ(third->token % 1024, 1023U);
  EXPECT_GT(third->token, first->token);
}

// S40: the new server's clock is behind, and it has lost the commit of the acquisition.
TEST_F(LockTest, ATokenIsLargerThanAnyThatThisProcessHasSeen) {
  ensure_lock(observer_, kName, 1);
  const auto first = take();
  ASSERT_TRUE(first);
  observer_.execute("UPDATE named_lock SET state = 'FREE', lock_by = NULL, epoch = 0");
  constexpr std::uint64_t kHour = 3'600'000'000ULL;
  floor_.saw(first->token + (kHour << 10));
  const auto second = take();
  ASSERT_TRUE(second);
  EXPECT_GT(second->token, first->token + (kHour << 10));
  EXPECT_EQ(second->token % 1024, 0U);
}

TEST_F(LockTest, ATokenGrowsAlsoWhereTheClockIsBehind) {
  ensure_lock(observer_, kName, 1);
  observer_.execute("UPDATE named_lock SET epoch = epoch + (1 << 62)");
  const auto first = take();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->token, (1ULL << 62) + 1024);
}

TEST_F(LockTest, TheOldestLiveTicketsTry) {
  ensure_lock(observer_, kName, 2);
  const Holder a = someone();
  const Holder b = someone();
  const Holder c = someone();
  const auto first = draw_ticket(observer_, kName, a);
  const auto second = draw_ticket(observer_, kName, b);
  const auto third = draw_ticket(observer_, kName, c);
  EXPECT_EQ(draw_ticket(observer_, kName, b), second) << "sent again";
  EXPECT_LT(first, second);
  EXPECT_LT(second, third);
  const auto try_with = [&](const Holder& holder, std::uint64_t ticket, std::uint32_t slot) {
    return take_lock(observer_, {kName, slot, ticket, holder, seconds(30)}, floor_).has_value();
  };
  EXPECT_FALSE(try_with(c, third, 0)) << "two are before it";
  EXPECT_TRUE(try_with(b, second, 0));
  EXPECT_TRUE(try_with(c, third, 1));
  EXPECT_EQ(tickets(), 1U);
}

TEST_F(LockTest, ADeadTicketBlocksNoClient) {
  ensure_lock(observer_, kName, 1);
  const Holder gone = someone();
  const Holder here = someone();
  draw_ticket(observer_, kName, gone);
  const auto ticket = draw_ticket(observer_, kName, here);
  const auto ahead = [&] { return watch_line(observer_, kName, ticket, seconds(30)).ahead; };
  EXPECT_EQ(ahead(), 1U);
  for (const char* shift : {"- INTERVAL 1 HOUR", "+ INTERVAL 1 HOUR"}) {
    observer_.execute(std::string("UPDATE lock_ticket SET expire_at = UTC_TIMESTAMP(6) ") + shift +
                      " WHERE lock_by = " + std::to_string(gone.id));
    EXPECT_EQ(ahead(), 0U) << shift;
    EXPECT_TRUE(renew_ticket(observer_, gone));
    EXPECT_EQ(ahead(), 1U) << "it was only late";
  }
  observer_.execute(
      "UPDATE lock_ticket SET expire_at = expire_at - INTERVAL 1 HOUR WHERE lock_by = " +
      std::to_string(gone.id));
  EXPECT_TRUE(take_lock(observer_, {kName, 0, ticket, here, seconds(30)}, floor_));
  EXPECT_EQ(purge_tickets(observer_), 1U);
  EXPECT_EQ(tickets(), 0U);
}

TEST_F(LockTest, RepeatedCallTakesNoSecondSlot) {
  ensure_lock(observer_, kName, 2);
  const Holder holder = someone();
  const auto ticket = draw_ticket(observer_, kName, holder);
  const auto first = take_lock(observer_, {kName, 0, ticket, holder, seconds(30)}, floor_);
  const auto again = take_lock(observer_, {kName, 1, ticket, holder, seconds(30)}, floor_);
  ASSERT_TRUE(first && again);
  EXPECT_EQ(again->slot, 0U);
  EXPECT_EQ(again->token, first->token);
  EXPECT_EQ(held(), 1U);
}

TEST_F(LockTest, AResizeLetsWhatIsHeldEnd) {
  ensure_lock(observer_, kName, 3);
  const auto kept = take(2);
  ASSERT_TRUE(kept);
  EXPECT_FALSE(resize_lock(observer_, "unknown", 2));
  ASSERT_TRUE(resize_lock(observer_, kName, 1));
  EXPECT_FALSE(take(1));
  EXPECT_TRUE(renew_lock(observer_, *kept));
  const auto view = show_lock(observer_, kName);
  ASSERT_TRUE(view);
  ASSERT_EQ(view->held.size(), 1U);
  EXPECT_TRUE(view->held.front().retired);
  EXPECT_TRUE(release_lock(observer_, *kept));
  EXPECT_FALSE(take(2));
  ASSERT_TRUE(resize_lock(observer_, kName, 5));
  EXPECT_EQ(number("SELECT COUNT(*) FROM named_lock"), 5U);
  EXPECT_EQ(ensure_lock(observer_, kName, 5), 5U);
  const auto again = take(2);
  ASSERT_TRUE(again);
  EXPECT_GT(again->token, kept->token);
}

// S38, as S4: only in the observed state, and never while it is renewed.
TEST_F(LockTest, OnlyWhatStoodStillIsFreed) {
  ensure_lock(observer_, kName, 1);
  const auto lock = take();
  ASSERT_TRUE(lock);
  const LockObservation seen = observed();
  EXPECT_FALSE(free_lock(observer_, seen, false)) << "it has not expired";
  ASSERT_TRUE(renew_lock(observer_, *lock));
  ASSERT_FALSE(free_lock(observer_, seen, true)) << "it was renewed since";
  LockObservation now = observed();
  EXPECT_TRUE(free_lock(observer_, now, true));
  EXPECT_FALSE(free_lock(observer_, now, true));
  EXPECT_FALSE(renew_lock(observer_, *lock));
  const auto next = take();
  ASSERT_TRUE(next);
  move_clock_of_row("-1 HOUR");
  EXPECT_TRUE(free_lock(observer_, observed(), false));
}

// A client that commits under a lock has its row locked (allot_lock_require): it is not freed in
// this time.
TEST_F(LockTest, ALockedRowIsSkipped) {
  ensure_lock(observer_, kName, 1);
  ASSERT_TRUE(take());
  db::Connection other = connect();
  other.execute("BEGIN; SELECT 1 FROM named_lock FOR UPDATE");
  EXPECT_FALSE(free_lock(observer_, observed(), true));
  other.execute("ROLLBACK");
  EXPECT_TRUE(free_lock(observer_, observed(), true));
}

// S40, S48: the new server may show a held lock as free. The statement itself refuses, even if no
// process has noticed the change; it uses the longer of both TTLs.
TEST_F(LockTest, AfterAFailoverItIsNotTaken) {
  ensure_lock(observer_, kName, 1);
  const auto first = take(0, seconds(30));
  ASSERT_TRUE(first);
  ASSERT_TRUE(release_lock(observer_, *first));
  observer_.execute("UPDATE server_identity SET identity = 'another one'");
  EXPECT_FALSE(take(0, seconds(1)));
  EXPECT_EQ(number("SELECT term FROM server_identity"), 2U) << "it has written down what it found";
  server_changed("25000000");
  EXPECT_FALSE(take(0, seconds(1)));
  EXPECT_FALSE(take(0, seconds(60)));
  server_changed("31000001");
  EXPECT_FALSE(take(0, seconds(60)));
  EXPECT_TRUE(take(0, seconds(1)));
}

TEST_F(LockTest, AfterAFailoverItIsNotFreed) {
  ensure_lock(observer_, kName, 1);
  ASSERT_TRUE(take(0, seconds(30)));
  const LockObservation seen = observed();
  observer_.execute("UPDATE server_identity SET identity = 'another one'");
  EXPECT_FALSE(free_lock(observer_, seen, true));
  EXPECT_EQ(number("SELECT term FROM server_identity"), 2U);
  server_changed("25000000");
  EXPECT_FALSE(free_lock(observer_, seen, true));
  server_changed("31000001");
  EXPECT_TRUE(free_lock(observer_, seen, true));
}

TEST_F(LockTest, ABreakNamesTheToken) {
  ensure_lock(observer_, kName, 1);
  const auto lock = take();
  ASSERT_TRUE(lock);
  const auto view = show_lock(observer_, kName);
  ASSERT_TRUE(view && view->held.size() == 1);
  EXPECT_EQ(view->held.front().token, lock->token);
  EXPECT_TRUE(break_lock(observer_, kName, view->held.front()));
  EXPECT_FALSE(break_lock(observer_, kName, view->held.front()));
  EXPECT_FALSE(renew_lock(observer_, *lock));
  EXPECT_FALSE(show_lock(observer_, "unknown"));
}

// Waiting.

class LockWaitTest : public LockTest {
 protected:
  // Polls as often as a waiting client does, until it has the lock.
  std::optional<HeldLock> wait_with(LockWait& wait, db::Connection& db) {
    std::optional<HeldLock> taken;
    EXPECT_TRUE(support::eventually([&] {
      if (boot_ns() < wait.next_ns()) return false;
      taken = wait.poll(db, 1);
      return taken.has_value();
    }));
    return taken;
  }
};

TEST_F(LockWaitTest, TheFirstLookTakesWhatIsFree) {
  LockWait wait({.name = kName, .slots = 2}, someone(), floor_);
  const auto lock = wait.poll(observer_, 1);
  ASSERT_TRUE(lock);
  EXPECT_EQ(lock->slot, 0U);
  EXPECT_EQ(tickets(), 0U);
}

TEST_F(LockWaitTest, HandOversAreInTheOrderOfArrival) {
  LockWait first({.name = kName}, someone(), floor_);
  auto lock = first.poll(observer_, 1);
  ASSERT_TRUE(lock);
  std::vector<std::unique_ptr<LockWait>> line;
  for (int i = 0; i < 10; ++i) {
    line.push_back(std::make_unique<LockWait>(LockSpec{.name = kName}, someone(), floor_));
    EXPECT_FALSE(line.back()->poll(observer_, 1));
  }
  for (std::size_t i = 0; i < line.size(); ++i) {
    ASSERT_TRUE(release_lock(observer_, *lock));
    for (std::size_t later = line.size() - 1; later > i; --later) {
      EXPECT_FALSE(line[later]->poll(observer_, 1)) << later << " before " << i;
    }
    lock = line[i]->poll(observer_, 1);
    ASSERT_TRUE(lock) << i;
  }
}

TEST_F(LockWaitTest, AWaitingClientFreesTheLockOfADeadHolder) {
  ensure_lock(observer_, kName, 1);
  const auto gone = take(0, seconds(1));
  ASSERT_TRUE(gone);
  LockWait wait({.name = kName, .ttl = seconds(1)}, someone(), floor_);
  const auto lock = wait_with(wait, observer_);
  ASSERT_TRUE(lock);
  EXPECT_GE(boot_ns(), gone->sent_ns + kSecond) << "not before its own time was over";
  EXPECT_GT(lock->token, gone->token);
}

// The clock of the database jumps ahead by an hour: the row looks expired.
TEST_F(LockWaitTest, AClockThatWentAheadFreesNothingBeforeTheTtl) {
  ensure_lock(observer_, kName, 1);
  const auto there = take(0, seconds(1));
  ASSERT_TRUE(there);
  move_clock_of_row("-1 HOUR");
  LockWait wait({.name = kName, .ttl = seconds(1)}, someone(), floor_);
  ASSERT_TRUE(wait_with(wait, observer_));
  EXPECT_GE(boot_ns(), ends_ns(*there));
}

TEST_F(LockWaitTest, AHolderThatRenewsIsNeverFreed) {
  ensure_lock(observer_, kName, 1);
  const auto there = take(0, seconds(3));
  ASSERT_TRUE(there);
  LockWait wait({.name = kName, .ttl = seconds(3)}, someone(), floor_);
  const Nanos end = boot_ns() + 7 * kSecond;
  Nanos renew = 0;
  EXPECT_TRUE(support::eventually([&] {
    if (boot_ns() >= renew) {
      EXPECT_TRUE(renew_lock(observer_, *there));
      move_clock_of_row("-1 HOUR");
      renew = boot_ns() + kSecond;
    }
    if (boot_ns() >= wait.next_ns()) {
      EXPECT_FALSE(wait.poll(observer_, 1));
    }
    return boot_ns() >= end || HasFailure();
  }));
}

// The host of a waiting client is cut off while its poll is in transit.
TEST_F(LockWaitTest, ALateLookDoesNotFreeALivingHoldersLock) {
  ensure_lock(observer_, kName, 1);
  const auto there = take(0, seconds(1));
  ASSERT_TRUE(there);
  LateLook late(name_, "state <> 'FREE'", *there);
  db::Connection cut_off(late.by_way_of_it(support::Database::shared().options(name_)));
  LockWait wait({.name = kName, .ttl = seconds(1)}, someone(), floor_);
  EXPECT_FALSE(wait.poll(cut_off, 1));
  EXPECT_TRUE(late.was_late());
  EXPECT_EQ(held(), 1U);
  EXPECT_TRUE(late.still_held());
}

// Slots that may not be taken yet are not free: otherwise the second client would later believe
// that the first one is stopped.
TEST_F(LockWaitTest, TheLineStandsStillAfterAChangeOfServer) {
  LockWait first({.name = kName, .ttl = seconds(2)}, someone(), floor_);
  LockWait second({.name = kName, .ttl = seconds(2)}, someone(), floor_);
  observer_.execute("UPDATE server_identity SET identity = 'another one'");
  EXPECT_FALSE(first.poll(observer_, 1));
  EXPECT_FALSE(second.poll(observer_, 1));
  const auto line = watch_line(observer_, kName, 1U << 30U, seconds(2));
  EXPECT_EQ(line.ahead, 2U);
  EXPECT_TRUE(line.free.empty());
  server_changed("3000001");
  EXPECT_EQ(watch_line(observer_, kName, 1U << 30U, seconds(2)).free.size(), 1U);
  EXPECT_FALSE(second.poll(observer_, 1));
  EXPECT_TRUE(first.poll(observer_, 1));
}

TEST_F(LockWaitTest, WaiterThatGivesUpLeavesTheQueue) {
  ensure_lock(observer_, kName, 1);
  ASSERT_TRUE(take());
  LockWait wait({.name = kName}, someone(), floor_);
  EXPECT_FALSE(wait.poll(observer_, 1));
  EXPECT_EQ(tickets(), 1U);
  wait.give_up(observer_);
  EXPECT_EQ(tickets(), 0U);
}

TEST(TurnTest, TheOldestTakeTheFreeSlotsInOrder) {
  Turn turn;
  EXPECT_EQ(turn.slot({true, 0, 3, {1, 2}}, kSecond), 1U);
  EXPECT_EQ(turn.slot({true, 1, 3, {1, 2}}, kSecond), 2U);
  EXPECT_FALSE(turn.slot({true, 0, 3, {}}, kSecond));
  EXPECT_FALSE(turn.slot({true, 3, 3, {0, 1, 2}}, kSecond)) << "not of the oldest three";
}

TEST(TurnTest, StalledWaiterDelaysOthersOnlyBriefly) {
  Turn turn;
  EXPECT_FALSE(turn.slot({true, 2, 3, {1}}, 10 * kSecond));
  EXPECT_FALSE(turn.slot({true, 2, 3, {1}}, 13 * kSecond - 1));
  EXPECT_EQ(turn.slot({true, 2, 3, {1}}, 13 * kSecond), 1U);
  EXPECT_FALSE(turn.slot({true, 2, 3, {}}, 14 * kSecond));
  EXPECT_FALSE(turn.slot({true, 2, 3, {1}}, 15 * kSecond)) << "another holder took it";
}

TEST(TurnTest, LaterWaitersPollLessOften) {
  Turn turn;
  EXPECT_EQ(turn.delay({true, 1, 1, {}}, kSecond), 100 * kMilli);
  EXPECT_EQ(turn.delay({true, 1000, 1, {}}, kSecond), kSecond);
}

TEST(TurnTest, NextWaiterPollsLessOftenOverTime) {
  Turn turn;
  EXPECT_EQ(turn.delay({true, 2, 3, {}}, 100 * kSecond), 50 * kMilli);
  EXPECT_EQ(turn.delay({true, 0, 3, {}}, 101 * kSecond), 50 * kMilli);
  EXPECT_EQ(turn.delay({true, 0, 3, {}}, 104 * kSecond), 200 * kMilli);
  EXPECT_EQ(turn.delay({true, 0, 3, {}}, 200 * kSecond), kSecond);
  EXPECT_EQ(turn.delay({true, 3, 3, {}}, 201 * kSecond), 100 * kMilli)
      << "the lock was made smaller";
  EXPECT_EQ(turn.delay({true, 0, 3, {}}, 202 * kSecond), 50 * kMilli);
}

// Keeping.

class LockKeeperTest : public LockTest {
 protected:
  LockKeeperTest() { ensure_lock(observer_, kName, 1); }
  [[nodiscard]] db::ConnectOptions options() const {
    return support::Database::shared().options(name_);
  }
  LockKeeper::Events events() {
    return {[this](Nanos) { ++renewals_; },
            [this](const std::string&, bool) { lost_ns_ = boot_ns(); }};
  }
  static constexpr std::uint32_t kMostTries = 5;
  std::atomic<int> renewals_{0};
  std::atomic<Nanos> lost_ns_{0};
};

TEST_F(LockKeeperTest, ItIsRenewedUntilItIsReleased) {
  const auto lock = take(0, seconds(9));
  ASSERT_TRUE(lock);
  LockKeeper keeper(options(), *lock, spare_ns(*lock), events());
  EXPECT_TRUE(support::eventually([&] { return renewals_ >= 2; }));
  EXPECT_TRUE(keeper.held());
  EXPECT_EQ(held(), 1U);
  EXPECT_TRUE(keeper.release());
  EXPECT_FALSE(keeper.held());
  EXPECT_FALSE(keeper.release());
  EXPECT_EQ(held(), 0U);
  EXPECT_EQ(lost_ns_, 0U);
}

TEST_F(LockKeeperTest, ABrokenOneIsLost) {
  const auto lock = take(0, seconds(1));
  ASSERT_TRUE(lock);
  LockKeeper keeper(options(), *lock, spare_ns(*lock), events());
  ASSERT_TRUE(break_lock(observer_, kName, show_lock(observer_, kName)->held.front()));
  EXPECT_TRUE(support::eventually([&] { return lost_ns_ != 0; }));
  EXPECT_FALSE(keeper.held());
  EXPECT_FALSE(keeper.release());
}

// S38, S39: the deadline counts from the sending, by this host's clock, whatever a renewal does.
TEST_F(LockKeeperTest, WithoutTheDatabaseItIsLostAMarginBeforeItsEnd) {
  support::Database own;
  const std::string name = own.make_database();
  db::Connection db = own.connect(name);
  ensure_lock(db, kName, kMostTries);
  constexpr Nanos kSpare = 4 * kSecond;
  std::atomic<Nanos> ends{0};
  LockKeeper::Events told = events();
  told.renewed = [&](Nanos until) {
    ends = until;
    ++renewals_;
  };
  std::optional<LockKeeper> keeper;
  // On a busy machine a lock may be lost before its first renewal: then the next slot is taken.
  for (std::uint32_t slot = 0; slot < kMostTries && renewals_ == 0; ++slot) {
    const Holder holder = someone();
    const auto lock =
        take_lock(db, {kName, slot, draw_ticket(db, kName, holder), holder, seconds(9)}, floor_);
    ASSERT_TRUE(lock);
    keeper.reset();
    lost_ns_ = 0;
    keeper.emplace(own.options(name), *lock, kSpare, told);
    ASSERT_TRUE(support::eventually([&] { return renewals_ >= 1 || lost_ns_ != 0; }));
  }
  ASSERT_GE(renewals_, 1);
  const support::Database::Stall stall(own);
  EXPECT_TRUE(support::eventually([&] { return lost_ns_ != 0; }));
  EXPECT_FALSE(keeper->held());
  EXPECT_GE(lost_ns_, ends - kSpare);
  EXPECT_LT(lost_ns_, ends - margin_ns(keeper->lock())) << "or this machine stalled for 3 s";
}

}  // namespace
}  // namespace allot::queue
