// SPDX-License-Identifier: Apache-2.0
// allot_schedule_pause, _resume, _run and _remove: their messages, and the caller's transaction.
// The rest is in tests/contract.
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
    ASSERT_EQ(queue::put_schedule(observer_, spec,
                                  queue::database_now(observer_) + std::chrono::hours(1)),
              queue::Put::kAdded);
  }
  // Result of `CALL procedure(arguments, @out)`.
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
  queue::Schedule find(const std::string& name) { return *queue::find_schedule(observer_, name); }
};

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

// The other interfaces have no such messages.
TEST_F(ScheduleTest, EachSaysWhatItDid) {
  make(spec("s"));
  EXPECT_EQ(call("pause", "'s', NULL"), "paused");
  EXPECT_EQ(call("pause", "'s', NULL"), "already");
  EXPECT_EQ(find("s").pause_reason, "");
  EXPECT_EQ(call("resume", "'s'"), "resumed");
  EXPECT_EQ(call("resume", "'s'"), "running");
  EXPECT_EQ(call("remove", "'s'"), "removed");
  EXPECT_EQ(call("remove", "'s'"), "NULL");
}

// S89: in the caller's transaction, and under the caller's account instead of the procedures'.
TEST_F(ScheduleTest, EachCallLeavesAnEntryOfTheAudit) {
  make(spec("s"));
  const auto entries = [&] { return support::number_of(observer_, "SELECT COUNT(*) FROM audit"); };
  const auto newest = [&](const char* column) {
    return support::value_of(
        observer_, std::string("SELECT ") + column + " FROM audit ORDER BY audit_id DESC LIMIT 1");
  };
  call("pause", "'s', 'the printer is off'");
  EXPECT_EQ(newest("action"), "pause_schedule");
  EXPECT_EQ(newest("reason"), "the printer is off");
  EXPECT_EQ(newest("source"), "procedure");
  EXPECT_EQ(newest("name"), "s");
  EXPECT_EQ(newest("queue"), "default");
  EXPECT_EQ(newest("actor"), support::value_of(app_, "SELECT USER()"));
  call("resume", "'s'");
  EXPECT_EQ(newest("action"), "resume_schedule");
  call("resume", "'s'");  // it was not paused
  EXPECT_EQ(entries(), 2U);
  call("run", "'s'");
  EXPECT_EQ(newest("action"), "run_schedule");
  app_.execute("BEGIN");
  call("pause", "'s', NULL");
  call("run", "'s'");
  call("remove", "'s'");
  app_.execute("ROLLBACK");
  EXPECT_EQ(entries(), 3U);
  EXPECT_FALSE(find("s").paused_at);
  call("remove", "'s'");
  EXPECT_EQ(newest("action"), "remove_schedule");
  call("remove", "'s'");
  EXPECT_EQ(entries(), 4U);
}

TEST_F(ScheduleTest, TheLastTwentyRunsAreKept) {
  make(spec("s"));
  for (int i = 0; i < 22; ++i) call("run", "'s'");
  EXPECT_EQ(queue::list_ticks(observer_, find("s").schedule_id).size(), 20U);
  EXPECT_EQ(find("s").ticks, 22U);
}

TEST_F(ScheduleTest, AfterAFailureTheTransactionContinues) {
  make(spec("s"));
  observer_.execute("UPDATE schedule SET queue = 'gone' WHERE schedule_id > 0");
  app_.execute("START TRANSACTION");
  call_submit(app_, "default", "before", "");
  EXPECT_NE(refused("run", "'s'"), "");
  app_.execute("COMMIT");
  EXPECT_EQ(tasks(), 1U);
}

TEST_F(ScheduleTest, InTheCallersTransaction) {
  make(spec("s"));
  const std::uint64_t version = find("s").version;
  app_.execute("START TRANSACTION");
  EXPECT_NE(call("run", "'s'"), "NULL");
  EXPECT_EQ(call("pause", "'s', ''"), "paused");
  EXPECT_EQ(tasks(), 0U) << "other sessions do not see it yet";
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

TEST_F(ScheduleTest, InvalidCallsAreRefused) {
  make(spec("s"));
  for (const auto& [procedure, more] :
       {std::pair{"pause", ", ''"}, std::pair{"resume", ""}, std::pair{"run", ""}}) {
    EXPECT_NE(
        refused(procedure, "NULL" + std::string(more)).find("schedule NULL: unknown schedule"),
        std::string::npos);
  }
  EXPECT_NE(
      refused("pause", "'s', REPEAT('x', 256)").find("reason of 256 characters: the limit is 255"),
      std::string::npos);
  EXPECT_FALSE(find("s").paused_at);
}

}  // namespace
}  // namespace allot::sqlapi
