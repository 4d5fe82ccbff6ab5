// SPDX-License-Identifier: Apache-2.0
// The sections [schedules.NAME] of a configuration, at the start of a steward.
#include "db/worker/loop_fixture.h"
#include "queue/schedules/schedule_store.h"
#include "steward/chores.h"

namespace allot::steward {
namespace {

class ApplySchedulesTest : public worker::LoopTest {
 protected:
  ApplySchedulesTest() : worker_(worker()) {
    config::Schedule& section = settings_.schedules.emplace_back();
    section.name = "s";
    section.expression = "30 2 * * *";
    section.zone = "Asia/Kolkata";
    section.queue = queue_.name;
    section.type = "t";
  }
  config::Schedule& section() { return settings_.schedules.at(0); }
  void apply() { apply_schedules(worker_->session(), settings_, {ALLOT_WORKER, "--calendar"}); }
  queue::Schedule find() {
    const auto found = queue::find_schedule(db_, "s");
    EXPECT_TRUE(found);
    return found.value_or(queue::Schedule{});
  }

  std::unique_ptr<worker::LoopWorker> worker_;
  config::Settings settings_;
};

TEST_F(ApplySchedulesTest, ASectionMakesASchedule) {
  apply();
  const queue::Schedule made = find();
  EXPECT_EQ(made.spec.type, "t");
  EXPECT_TRUE(made.applied);
  ASSERT_TRUE(made.next_run);
  EXPECT_EQ(value("SELECT TIME(next_run) FROM schedule"), "21:00:00.000000") << "in its zone";
  EXPECT_GT(*made.next_run, queue::database_now(db_));
}

TEST_F(ApplySchedulesTest, OperatorChangesStayUntilTheSectionChanges) {
  apply();
  queue::ScheduleSpec spec = find().spec;
  spec.payload = "an operator's";
  ASSERT_EQ(queue::put_schedule(db_, spec, std::nullopt), queue::Put::kChanged);
  ASSERT_TRUE(queue::pause_schedule(db_, "s", "why"));
  const std::uint64_t version = find().version;
  apply();
  EXPECT_EQ(find().version, version);
  EXPECT_EQ(find().spec.payload, "an operator's");
  section().type = "u";
  apply();
  EXPECT_EQ(find().spec.type, "u");
  EXPECT_EQ(find().spec.payload, "") << "the section says all of it";
  EXPECT_TRUE(find().paused_at);
  settings_.schedules.clear();
  apply();
  EXPECT_EQ(find().spec.type, "u") << "nothing is removed";
}

TEST_F(ApplySchedulesTest, ALowerRevisionChangesNothing) {
  section().revision = 2;
  apply();
  const std::uint64_t version = find().version;
  section().revision = 1;
  section().type = "old";
  apply();
  EXPECT_EQ(find().version, version);
  EXPECT_EQ(find().spec.type, "t");
  section().revision = 3;
  section().type = "new";
  apply();
  EXPECT_EQ(find().spec.type, "new");
  EXPECT_EQ(find().revision, 3U);
}

TEST_F(ApplySchedulesTest, ABadSectionLeavesTheOthersAlone) {
  settings_.schedules.insert(settings_.schedules.begin(), 4, section());
  const char* names[] = {"zone", "expression", "placement", "field"};
  for (std::size_t i = 0; i < 4; ++i) settings_.schedules[i].name = names[i];
  settings_.schedules[0].zone = "Mars/X";
  settings_.schedules[1].expression = "0 0 31 2 *";
  settings_.schedules[2].partition_key = "k";
  settings_.schedules[3].tick_field = "at";
  settings_.schedules[3].payload = "[]";
  apply();
  EXPECT_EQ(value("SELECT GROUP_CONCAT(name) FROM schedule"), "s");
}

}  // namespace
}  // namespace allot::steward
