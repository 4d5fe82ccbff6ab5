// SPDX-License-Identifier: Apache-2.0
// The chore that checks the database and stores the findings (S90).
#include "steward/findings.h"

#include "db/worker/loop_fixture.h"
#include "support/eventually.h"

namespace allot::steward {
namespace {

class FindingsTest : public worker::LoopTest {
 protected:
  FindingsTest()
      : one_(worker()),
        leadership_(one_->session(), queue::make_holder("test", "/run/allot/test")),
        chore_(one_->session(), settings_, leadership_) {}

  bool stored() { return queue::list_findings(db_).found_at.has_value(); }

  config::Settings settings_;
  std::unique_ptr<worker::LoopWorker> one_;
  Leadership leadership_;
  Findings chore_;
};

TEST_F(FindingsTest, LeaderStoresFindingsOnceAMinute) {
  db_.execute("DELETE FROM q_lock_table LIMIT 1");
  chore_.look();
  EXPECT_FALSE(stored()) << "it leads not";
  EXPECT_TRUE(support::eventually([&] {
    leadership_.look();
    chore_.look();
    return stored();
  }));
  bool found = false;
  for (const queue::Finding& finding : queue::list_findings(db_).list) {
    found = found || finding.about == "lease rows";
  }
  EXPECT_TRUE(found);
  EXPECT_GT(chore_.next_ns(), boot_ns() + 50 * kSecond) << "in a minute again";
}

}  // namespace
}  // namespace allot::steward
