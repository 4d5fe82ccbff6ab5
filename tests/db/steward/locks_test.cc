// SPDX-License-Identifier: Apache-2.0
// The steward frees locks whose holder stood still, and leaves those that are renewed (S38).
#include "steward/locks.h"

#include "db/late_look.h"
#include "db/worker/fixture.h"
#include "peer/lock_bell.h"
#include "queue/locks/lock_store.h"
#include "support/eventually.h"
#include "support/temp_dir.h"

namespace allot::steward {
namespace {

using std::chrono::seconds;
using support::eventually;

class StewardLocksTest : public worker::WorkerTest {
 protected:
  StewardLocksTest()
      : session_(options(), slot_, std::chrono::milliseconds(500)),
        leadership_(session_, queue::make_holder("test", "/run/allot/test")),
        locks_(session_, leadership_, folder_.path()) {}

  queue::HeldLock take(const std::string& name) {
    db::Connection db = support::Database::shared().connect(name_);
    queue::ensure_lock(db, name, 1);
    const queue::Holder holder = queue::make_holder("", "");
    const auto ticket = queue::draw_ticket(db, name, holder);
    return queue::take_lock(db, {name, 0, ticket, holder, seconds(1)}, floor_).value();
  }
  void look() {
    leadership_.look();
    locks_.look();
  }
  std::string state(const std::string& name) {
    return value("SELECT state FROM named_lock WHERE name = '" + name + "'");
  }

  support::TempDir folder_;  // of the instance
  worker::Session session_;
  Leadership leadership_;
  Locks locks_;
  queue::TokenFloor floor_;
};

TEST_F(StewardLocksTest, WhatStoodStillIsFreedAndWhatIsRenewedIsNot) {
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
    look();
    return state("gone") == "FREE";
  }));
  EXPECT_GE(boot_ns(), queue::ends_ns(gone));
  EXPECT_NE(bell.seen(), silent) << "whoever waits on this host is told";
  EXPECT_EQ(state("kept"), "EXTENDED");
  EXPECT_FALSE(queue::renew_lock(keeper, gone));
}

// S38: the steward's host is cut off while its look is on the way.
TEST_F(StewardLocksTest, ALateLookDoesNotFreeALivingHoldersLock) {
  queue::LateLook late(name_, "lock_by > 0", take("kept"));
  worker::Session session(late.by_way_of_it(options()), slot_, std::chrono::milliseconds(500));
  Leadership leadership(session, queue::make_holder("test", "/run/allot/test"));
  Locks locks(session, leadership, folder_.path());
  leadership.look();
  locks.look();
  EXPECT_TRUE(late.was_late());
  EXPECT_EQ(state("kept"), "EXTENDED");
  EXPECT_TRUE(late.still_held());
}

TEST_F(StewardLocksTest, ALeftTicketGoes) {
  db::Connection db = support::Database::shared().connect(name_);
  queue::draw_ticket(db, "x", queue::make_holder("", ""));
  db.execute("UPDATE lock_ticket SET expire_at = UTC_TIMESTAMP(6) - INTERVAL 1 HOUR");
  look();
  EXPECT_EQ(value("SELECT COUNT(*) FROM lock_ticket"), "0");
}

}  // namespace
}  // namespace allot::steward
