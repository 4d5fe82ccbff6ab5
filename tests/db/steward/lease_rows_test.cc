// SPDX-License-Identifier: Apache-2.0
// The steward's work on lease rows: creates missing ones, and cuts times from a clock that was
// ahead.
#include "db/steward/steward_host.h"
#include "db/worker/loop_fixture.h"
#include "steward/chores.h"
#include "support/eventually.h"

namespace allot::steward {
namespace {

class LeaseRowsTest : public worker::LoopTest {
 protected:
  // One round of a leading host.
  void round() {
    StewardHost host(steward_->session(), slot_);
    host.loop.add(lease_rows(steward_->session()));
    host.loop.round();
  }
  std::string row(const std::string& column) {
    return support::value_of(db_, "SELECT " + column + " FROM q_lock_table");
  }

  std::unique_ptr<worker::LoopWorker> steward_ = worker();
};

// S59: the holder of the deleted row may start tasks until its lease ends.
TEST_F(LeaseRowsTest, AMissingRowIsFilledInAndLeasedAfterTheLongestLease) {
  put_tasks(0, 1);
  const auto holder = worker();
  ASSERT_TRUE(support::eventually([&] { return holder->find().has_value(); }));
  const Nanos deleted = boot_ns();
  db_.execute(
      "UPDATE q_lock_table SET ttl_us = (SELECT * FROM (SELECT MAX(ttl_us) FROM q_lock_table) AS "
      "t);"
      " DELETE FROM q_lock_table WHERE partition_no = 0");
  round();
  EXPECT_EQ(row("SUM(state = 'LOCKED' AND lock_by IS NULL)"), "1");
  const auto other = worker();
  EXPECT_TRUE(support::eventually([&] { return other->find().has_value(); }));
  EXPECT_GE(boot_ns() - deleted,
            static_cast<Nanos>(std::chrono::nanoseconds(worker::kOwnTtl).count()) + kSecond);
}

// S60
TEST_F(LeaseRowsTest, AReleaseByAClockThatWasAheadWasNow) {
  db_.execute("UPDATE q_lock_table SET expire_at = UTC_TIMESTAMP(6) + INTERVAL 1 DAY");
  round();
  EXPECT_EQ(row("MAX(expire_at) <= UTC_TIMESTAMP(6)"), "1");
}

}  // namespace
}  // namespace allot::steward
