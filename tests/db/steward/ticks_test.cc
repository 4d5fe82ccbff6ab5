// SPDX-License-Identifier: Apache-2.0
// The chore of ticks: a persistent error does not delay other chores.
#include "steward/ticks.h"

#include "db/worker/loop_fixture.h"

namespace allot::steward {
namespace {

class TicksTest : public worker::LoopTest {};

TEST_F(TicksTest, AnErrorThatStaysHoldsUpNoOther) {
  const auto one = worker();
  Leadership leadership(one->session(), queue::make_holder("test", "/run/allot/test"));
  Ticks ticks(one->session(), *board_, leadership, {"/bin/false"});
  leadership.look();
  ASSERT_TRUE(leadership.leads({0, "schedules"}));
  db_.execute("RENAME TABLE schedule TO schedule_away");
  ticks.look();
  db_.execute("RENAME TABLE schedule_away TO schedule");
  EXPECT_GT(ticks.next_ns(), boot_ns());
  leadership.leave();
  EXPECT_NE(support::value_of(db_, "SELECT last_error FROM queue_duty WHERE duty = 'schedules'")
                .find("schedule"),
            std::string::npos);
}

}  // namespace
}  // namespace allot::steward
