// SPDX-License-Identifier: Apache-2.0
// The chore that checks the database and stores the findings (S90).
#include "db/steward/steward_host.h"
#include "db/worker/loop_fixture.h"
#include "queue/findings/finding.h"
#include "steward/chores.h"
#include "support/eventually.h"

namespace allot::steward {
namespace {

class FindingsTest : public worker::LoopTest {
 protected:
  FindingsTest() : one_(worker()), host_(one_->session(), slot_) {
    host_.loop.add(findings(one_->session(), settings_));
  }

  bool stored() { return queue::list_findings(db_).checked_at.has_value(); }

  config::Settings settings_;
  std::unique_ptr<worker::LoopWorker> one_;
  StewardHost host_;
};

TEST_F(FindingsTest, LeaderStoresFindingsOnceAMinute) {
  db_.execute("DELETE FROM q_lock_table LIMIT 1");
  EXPECT_TRUE(support::eventually([&] {
    host_.loop.round();
    return stored();
  }));
  bool found = false;
  for (const queue::Finding& finding : queue::list_findings(db_).list) {
    found = found || finding.check == "lease rows";
  }
  EXPECT_TRUE(found);
  EXPECT_GT(host_.next_ns(), boot_ns() + 50 * kSecond) << "in a minute again";
}

// Its findings so far are older than those that another host has stored since.
TEST_F(FindingsTest, ARunOfATermThatEndedBeginsAgain) {
  StewardHost host(one_->session(), slot_);
  int steps = 0;
  int fresh = 0;
  const auto run = [&](bool first) {
    ++steps;
    fresh += first ? 1 : 0;
    return Again(kMilli);
  };
  host.loop.add({.name = "long", .duties = {{0, "long"}}, .every = kSecond, .run_once = run});
  const auto until = [&](const int& count, int wanted) {
    return support::eventually([&] {
      host.loop.round();
      return count >= wanted;
    });
  };
  ASSERT_TRUE(until(steps, 3));
  EXPECT_EQ(fresh, 1);
  db_.execute(
      "UPDATE queue_duty SET holder = 77, free_at = UTC_TIMESTAMP(6) - INTERVAL 1 SECOND"
      " WHERE duty = 'long'");
  EXPECT_TRUE(until(fresh, 2));
}

}  // namespace
}  // namespace allot::steward
