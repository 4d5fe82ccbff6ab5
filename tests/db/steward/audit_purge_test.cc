// SPDX-License-Identifier: Apache-2.0
// The chore that removes old entries of the audit.
#include "steward/audit_purge.h"

#include "db/worker/loop_fixture.h"
#include "support/eventually.h"

namespace allot::steward {
namespace {

class AuditPurgeTest : public worker::LoopTest {
 protected:
  AuditPurgeTest()
      : one_(worker()),
        leadership_(one_->session(), queue::make_holder("test", "/run/allot/test")),
        chore_(one_->session(), leadership_) {}

  std::uint64_t entries() { return support::number_of(db_, "SELECT COUNT(*) FROM audit"); }

  std::unique_ptr<worker::LoopWorker> one_;
  Leadership leadership_;
  AuditPurge chore_;
};

TEST_F(AuditPurgeTest, LeaderPurgesInBatches) {
  db_.execute(
      "INSERT INTO audit (at, who, door, action, subject, name, detail, reason)"
      " SELECT UTC_TIMESTAMP(6) - INTERVAL IF(seq <= 2500, 91, 89) DAY, '', '', '', '', '', '', ''"
      " FROM " +
      support::numbers(1, 2600));
  chore_.look();
  EXPECT_EQ(entries(), 2600U) << "it leads not";
  EXPECT_TRUE(support::eventually([&] {
    leadership_.look();
    chore_.look();
    return entries() == 100;
  }));
  EXPECT_GT(chore_.next_ns(), boot_ns() + 3000 * kSecond) << "in an hour again";
}

}  // namespace
}  // namespace allot::steward
