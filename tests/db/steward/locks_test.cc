// SPDX-License-Identifier: Apache-2.0
// The steward frees locks whose holder stopped renewing, and leaves renewed ones (S38).
#include "db/late_look.h"
#include "db/steward/steward_host.h"
#include "db/worker/fixture.h"
#include "peer/lock_bell.h"
#include "queue/locks/lock_store.h"
#include "steward/chores.h"
#include "support/eventually.h"
#include "support/temp_dir.h"

namespace allot::steward {
namespace {

using std::chrono::seconds;
using support::eventually;

class StewardLocksTest : public worker::WorkerTest {
 protected:
  StewardLocksTest()
      : session_(options(), slot_, std::chrono::milliseconds(500)), host_(session_, slot_) {
    host_.loop.add(locks(session_, folder_.path()));
  }

  queue::HeldLock take(const std::string& name, seconds ttl = seconds(1)) {
    db::Connection db = support::Database::shared().connect(name_);
    queue::ensure_lock(db, name, 1);
    const queue::Holder holder = queue::make_holder("", "");
    const auto ticket = queue::draw_ticket(db, name, holder);
    return queue::take_lock(db, {name, 0, ticket, holder, ttl}, floor_).value();
  }
  void poll() { host_.loop.round(); }
  // Number of polls; called after each of them.
  unsigned watched() {
    if (host_.next_ns() != last_next_) ++watched_;
    last_next_ = host_.next_ns();
    return watched_;
  }
  std::string state(const std::string& name) {
    return value("SELECT state FROM named_lock WHERE name = '" + name + "'");
  }

  support::TempDir folder_;  // of the instance
  process::Session session_;
  StewardHost host_;
  queue::TokenFloor floor_;
  Nanos last_next_ = 0;
  unsigned watched_ = 0;
};

TEST_F(StewardLocksTest, StalledLockIsFreedAndRenewedLockIsNot) {
  const queue::HeldLock gone = take("gone");
  const queue::HeldLock kept = take("kept");
  const peer::LockBell bell(folder_.path(), "gone");
  const std::uint32_t silent = bell.seen();
  db::Connection keeper = support::Database::shared().connect(name_);
  Nanos renew = 0;
  EXPECT_TRUE(eventually([&] {
    if (boot_ns() >= renew) {
      EXPECT_TRUE(queue::renew_lock(keeper, kept));
      renew = boot_ns() + kSecond / 4;
    }
    poll();
    return state("gone") == "FREE";
  }));
  EXPECT_GE(boot_ns(), queue::ends_ns(gone));
  EXPECT_NE(bell.seen(), silent) << "waiting processes of this host are woken";
  EXPECT_EQ(state("kept"), "EXTENDED");
  EXPECT_FALSE(queue::renew_lock(keeper, gone));
}

// Acquired right after a poll that found nothing, and never renewed.
TEST_F(StewardLocksTest, ExpiredLockIsFreeWithinTwiceItsTtl) {
  constexpr seconds kShortestTtl{6};
  poll();
  const queue::HeldLock gone = take("gone", kShortestTtl);
  EXPECT_TRUE(eventually([&] {
    poll();
    return state("gone") == "FREE";
  }));
  EXPECT_GE(boot_ns(), queue::ends_ns(gone));
  EXPECT_LT(boot_ns(), gone.sent_ns + 2 * kShortestTtl.count() * kSecond);
}

// While locks are in use, a lock of the shortest TTL may be acquired at any time, whichever others
// are held. Without locks the steward does not poll.
TEST_F(StewardLocksTest, ALookIsNeverFurtherAwayThanTheShortestTtlWhereLocksAreInUse) {
  poll();
  EXPECT_GT(host_.next_ns(), boot_ns() + 2 * kSecond);
  const queue::HeldLock held = take("long", seconds(3600));
  unsigned looks = watched();
  const auto look_again = [&] {
    ++looks;
    return eventually([&] {
      poll();
      return watched() >= looks;
    });
  };
  EXPECT_TRUE(look_again());
  EXPECT_LT(host_.next_ns(), boot_ns() + kSecond);
  db::Connection db = support::Database::shared().connect(name_);
  EXPECT_TRUE(queue::release_lock(db, held));
  EXPECT_TRUE(look_again());
  EXPECT_LT(host_.next_ns(), boot_ns() + kSecond) << "it may be taken again";
}

// Its row is locked, or it waits for a server change: each poll tries once, and polls do not become
// more frequent.
TEST_F(StewardLocksTest, OneThatCannotBeFreedCostsNoMoreLooks) {
  take("gone");
  db::Connection other = support::Database::shared().connect(name_);
  EXPECT_TRUE(eventually([&] {
    poll();
    if (watched() == 1) other.execute("BEGIN; SELECT 1 FROM named_lock FOR UPDATE");
    return watched() > 6;
  }));
  EXPECT_EQ(state("gone"), "LOCKED");
  EXPECT_GT(host_.next_ns(), boot_ns() + kSecond / 4);
  other.execute("ROLLBACK");
  EXPECT_TRUE(eventually([&] {
    poll();
    return state("gone") == "FREE";
  }));
}

// S38: the steward's host is cut off while its poll is in transit.
TEST_F(StewardLocksTest, ALateLookDoesNotFreeALivingHoldersLock) {
  queue::LateLook late(name_, "lock_by > 0", take("kept"));
  process::Session session(late.by_way_of_it(options()), slot_, std::chrono::milliseconds(500));
  StewardHost host(session, slot_);
  host.loop.add(locks(session, folder_.path()));
  host.loop.round();
  EXPECT_TRUE(late.was_late());
  EXPECT_EQ(state("kept"), "EXTENDED");
  EXPECT_TRUE(late.still_held());
}

}  // namespace
}  // namespace allot::steward
