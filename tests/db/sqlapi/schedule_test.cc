// SPDX-License-Identifier: Apache-2.0
// allot_schedule_pause, _resume, _run and _remove: the same as `allot schedule`, in the caller's
// transaction.
#include "db/sqlapi/fixture.h"
#include "queue/schedules/schedule_store.h"

namespace allot::sqlapi {
namespace {

class ScheduleTest : public SqlApiTest {
 protected:
  queue::ScheduleSpec spec(const std::string& name) {
    queue::ScheduleSpec spec;
    spec.name = name;
    spec.expression = "@daily";
    spec.queue = "default";
    spec.type = "t";
    spec.payload = "p";
    return spec;
  }
  void make(const queue::ScheduleSpec& spec) {
    ASSERT_EQ(queue::put_schedule(look_, spec, queue::database_now(look_) + std::chrono::hours(1)),
              queue::Put::kAdded);
  }
  // What `CALL procedure(arguments, @out)` tells.
  std::string call(const std::string& procedure, const std::string& arguments) {
    auto results = app_.execute("CALL allot_schedule_" + procedure + "(" + arguments +
                                ", @out); SELECT COALESCE(@out, 'NULL')");
    return std::string(results.back().next()->text(0));
  }
  std::string refused(const std::string& procedure, const std::string& arguments) {
    try {
      call(procedure, arguments);
    } catch (const db::DbError& error) {
      EXPECT_EQ(error.number(), 1644U);
      return error.what();
    }
    return "";
  }
  queue::Schedule find(const std::string& name) { return *queue::find_schedule(look_, name); }
};

TEST_F(ScheduleTest, PauseAndResume) {
  make(spec("s"));
  const std::uint64_t first = find("s").version;
  EXPECT_EQ(call("pause", "'s', 'the printer is off'"), "paused");
  const queue::Schedule paused = find("s");
  EXPECT_TRUE(paused.paused_at);
  EXPECT_EQ(paused.pause_reason, "the printer is off");
  EXPECT_GT(paused.version, first) << "a tick that was planned before does not come";
  EXPECT_EQ(call("pause", "'s', NULL"), "already");
  EXPECT_EQ(find("s").paused_at, paused.paused_at);
  EXPECT_EQ(find("s").pause_reason, "");
  EXPECT_EQ(call("resume", "'s'"), "resumed");
  EXPECT_FALSE(find("s").paused_at);
  EXPECT_GT(find("s").resumed_at, paused.paused_at);
  EXPECT_GT(find("s").version, paused.version);
  const queue::Schedule running = find("s");
  EXPECT_EQ(call("resume", "'s'"), "running");
  EXPECT_EQ(find("s").version, running.version);
  EXPECT_EQ(find("s").resumed_at, running.resumed_at);
}

TEST_F(ScheduleTest, RunMakesATaskAndTheRecordOfIt) {
  queue::ScheduleSpec one = spec("s");
  one.payload = " { \"n\" : 1.50 }";
  one.tick_field = "at";
  one.overlap = queue::Overlap::kSkip;
  one.options.prio = 3;
  one.options.delay = std::chrono::minutes(5);
  one.options.expires_in = std::chrono::hours(1);
  make(one);
  const std::string id = call("run", "'s'");
  const auto view = task({id});
  ASSERT_TRUE(view);
  EXPECT_EQ(view->type, "t");
  EXPECT_EQ(view->id.prio, 3U);
  const std::string tick =
      value("SELECT DATE_FORMAT(last_run, '%Y-%m-%dT%H:%i:%s.%fZ') FROM schedule WHERE name = 's'");
  EXPECT_EQ(view->payload, " {\"at\":\"" + tick + "\", \"n\" : 1.50 }");
  EXPECT_EQ(value("SELECT expires_at > UTC_TIMESTAMP(6) + INTERVAL 59 MINUTE FROM task"), "1");
  EXPECT_EQ(value("SELECT run_key >> 12 > TIMESTAMPDIFF(MICROSECOND, '2025-01-01',"
                  " UTC_TIMESTAMP(6) + INTERVAL 4 MINUTE) FROM task"),
            "1");
  EXPECT_EQ(find("s").last_task, id);
  EXPECT_EQ(find("s").submitted, 1U);
  const auto ticks = queue::list_ticks(look_, find("s").schedule_id);
  ASSERT_EQ(ticks.size(), 1U);
  EXPECT_EQ(ticks.front().task, id);
  EXPECT_EQ(ticks.front().reason, "run now");
  EXPECT_EQ(ticks.front().tick, find("s").last_run);
  EXPECT_NE(call("run", "'s'"), id) << "who asks for a task gets one";
  for (int i = 0; i < 20; ++i) call("run", "'s'");
  EXPECT_EQ(queue::list_ticks(look_, find("s").schedule_id).size(), 20U);
  EXPECT_EQ(find("s").ticks, 22U);
}

TEST_F(ScheduleTest, TheTickGoesIntoAnyObject) {
  for (const auto& [payload, behind] :
       {std::pair{"", "}"}, std::pair{"{}", "}"}, std::pair{"{ \n}", " \n}"},
        std::pair{"\t{\"a\":{}}", ",\"a\":{}}"}}) {
    queue::ScheduleSpec one = spec("s" + std::to_string(tasks()));
    one.payload = payload;
    one.tick_field = "at";
    make(one);
    const std::string made = task({call("run", "'" + one.name + "'")})->payload;
    EXPECT_TRUE(made.ends_with(std::string("Z\"") + behind)) << made;
    EXPECT_TRUE(nlohmann::json::parse(made).contains("at")) << made;
  }
}

TEST_F(ScheduleTest, AUniqueKeyThatIsTakenIsTheAnswerAndNoTick) {
  queue::ScheduleSpec one = spec("s");
  one.options.unique_key = "k";
  make(one);
  const std::string id = call("run", "'s'");
  EXPECT_EQ(call("run", "'s'"), id);
  EXPECT_EQ(tasks(), 1U);
  EXPECT_EQ(find("s").submitted, 1U);
}

TEST_F(ScheduleTest, InTheCallersTransaction) {
  make(spec("s"));
  const std::uint64_t version = find("s").version;
  app_.execute("START TRANSACTION");
  EXPECT_NE(call("run", "'s'"), "NULL");
  EXPECT_EQ(call("pause", "'s', ''"), "paused");
  EXPECT_EQ(tasks(), 0U) << "nobody else sees it yet";
  EXPECT_EQ(call("remove", "'s'"), "removed");
  app_.execute("ROLLBACK");
  EXPECT_EQ(find("s").version, version);
  EXPECT_EQ(find("s").submitted, 0U);
  EXPECT_EQ(tasks(), 0U);
  app_.execute("START TRANSACTION");
  EXPECT_NE(call("run", "'s'"), "NULL");
  app_.execute("COMMIT");
  EXPECT_EQ(tasks(), 1U);
  EXPECT_EQ(find("s").submitted, 1U);
}

TEST_F(ScheduleTest, AFailureLeavesNothingBehind) {
  make(spec("s"));
  look_.execute("UPDATE schedule SET queue = 'gone' WHERE schedule_id > 0");
  app_.execute("START TRANSACTION");
  call_submit(app_, "default", "before", "");
  EXPECT_TRUE(refused("run", "'s'").find("schedule 's': there is no queue 'gone'") !=
              std::string::npos);
  app_.execute("COMMIT");
  EXPECT_EQ(tasks(), 1U) << "the transaction goes on";
  look_.execute("UPDATE schedule SET queue = 'default', partition_key = 'k' WHERE schedule_id > 0");
  EXPECT_TRUE(refused("run", "'s'").find("partition_key: queue 'default' is neither ordered") !=
              std::string::npos);
  EXPECT_EQ(find("s").ticks, 0U);
  EXPECT_EQ(tasks(), 1U);
}

TEST_F(ScheduleTest, Remove) {
  make(spec("s"));
  make(spec("other"));
  call("run", "'s'");
  call("run", "'other'");
  EXPECT_EQ(call("remove", "'s'"), "removed");
  EXPECT_EQ(call("remove", "'s'"), "NULL");
  EXPECT_EQ(call("remove", "'other '"), "NULL") << "padding does not make it equal";
  EXPECT_EQ(number("SELECT COUNT(*) FROM schedule"), 1U);
  EXPECT_EQ(number("SELECT COUNT(*) FROM schedule_tick"), 1U);
  EXPECT_EQ(tasks(), 2U);
}

TEST_F(ScheduleTest, WhatIsRefused) {
  make(spec("s"));
  for (const auto& [procedure, more] :
       {std::pair{"pause", ", ''"}, std::pair{"resume", ""}, std::pair{"run", ""}}) {
    for (const char* name : {"'x'", "'s '", "''", "'S'"}) {
      EXPECT_NE(refused(procedure, name + std::string(more))
                    .find(std::string("schedule ") + name + ": there is no such schedule"),
                std::string::npos)
          << procedure << name;
    }
    EXPECT_NE(refused(procedure, "NULL" + std::string(more))
                  .find("schedule NULL: there is no such schedule"),
              std::string::npos);
  }
  EXPECT_NE(
      refused("pause", "'s', REPEAT('x', 256)").find("reason of 256 characters: the most is 255"),
      std::string::npos);
  EXPECT_FALSE(find("s").paused_at);
}

}  // namespace
}  // namespace allot::sqlapi
