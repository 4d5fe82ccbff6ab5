// SPDX-License-Identifier: Apache-2.0
// The chore of ticks: a persistent error does not delay other chores.
#include "db/steward/steward_host.h"
#include "db/worker/loop_fixture.h"
#include "steward/chores.h"

namespace allot::steward {
namespace {

class TicksTest : public worker::LoopTest {};

TEST_F(TicksTest, AnErrorThatStaysHoldsUpNoOther) {
  const auto one = worker();
  StewardHost host(one->session(), slot_);
  host.loop.add(ticks(one->session(), *board_, {"/bin/false"}));
  db_.execute("RENAME TABLE schedule TO schedule_away");
  host.loop.round();
  db_.execute("RENAME TABLE schedule_away TO schedule");
  ASSERT_TRUE(host.leadership.leads({0, "schedules"}));
  EXPECT_GT(host.next_ns(), boot_ns());
  host.leadership.leave();
  EXPECT_NE(support::value_of(db_, "SELECT last_error FROM queue_duty WHERE duty = 'schedules'")
                .find("schedule"),
            std::string::npos);
}

}  // namespace
}  // namespace allot::steward
