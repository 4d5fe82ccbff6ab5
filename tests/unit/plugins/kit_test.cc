// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <allot/testing.hpp>
#include <sstream>
#include <thread>

namespace {

using allot::test::Handler;
using std::chrono::milliseconds;

TEST(Kit, AHandlerGetsTheTaskAndItsSettings) {
  Handler echo("kit.echo", {{"word", "hello"}});
  const auto ran = echo.run({.payload = "world",
                             .id = "id-1",
                             .queue = "mail",
                             .attempt = 3,
                             .max_attempts = 5,
                             .time_left = milliseconds(60'000)});
  EXPECT_EQ(ran.outcome, allot::success());
  EXPECT_EQ(ran.log,
            "debug id-1 mail kit.echo\n"
            "info hello world\n"
            "warn 3/5\n"
            "error limit\n");
}

TEST(Kit, MissingCallbacksDoNoHarm) {
  Handler echo("kit.echo");
  const auto ran = echo.run(std::string("a\0b", 3));
  EXPECT_NE(ran.log.find(std::string("info none a\0b\n", 14)), std::string::npos) << ran.log;
  EXPECT_NE(ran.log.find("warn 1/10\nerror no limit\n"), std::string::npos) << ran.log;
  EXPECT_EQ(echo.run("b").log.find("none a"), std::string::npos) << "each run has its own log";
}

TEST(Kit, ATraceIsGivenToTheHandler) {
  Handler echo("kit.echo");
  allot::test::Task task;
  EXPECT_EQ(echo.run(task).log.find("trace"), std::string::npos);
  task.traceparent = "00-1-2-01";
  task.tracestate = "a=1";
  EXPECT_NE(echo.run(task).log.find("trace 00-1-2-01 a=1"), std::string::npos);
}

TEST(Kit, VerdictsAreComparedAndPrinted) {
  Handler verdict("kit.verdict");
  EXPECT_EQ(verdict.run("fail").outcome, allot::fail("never"));
  EXPECT_EQ(verdict.run("retry").outcome, allot::retry("later"));
  const auto delayed = verdict.run("delay").outcome;
  EXPECT_EQ(delayed, allot::retry("later", milliseconds(5000)));
  EXPECT_FALSE(delayed == allot::retry("later"));
  EXPECT_FALSE(delayed == allot::retry("other", milliseconds(5000)));
  EXPECT_FALSE(delayed == allot::fail("later"));
  EXPECT_EQ(testing::PrintToString(delayed), "retry(later) after 5000 ms");
  EXPECT_EQ(testing::PrintToString(allot::success()), "success()");
  EXPECT_EQ(testing::PrintToString(allot::snooze(milliseconds(20), "full")),
            "snooze(full) after 20 ms");
  EXPECT_EQ(testing::PrintToString(allot::not_started("no such program")),
            "not_started(no such program)");
  EXPECT_EQ(allot::snooze(milliseconds(-20)), allot::snooze(milliseconds(0))) << "it has passed";
  EXPECT_EQ(testing::PrintToString(allot::release("elsewhere")), "release(elsewhere)");
}

TEST(Kit, AnExceptionIsARetryAsInAWorker) {
  Handler verdict("kit.verdict");
  EXPECT_EQ(verdict.run("throw").outcome, allot::retry("std::runtime_error: thrown"));
}

TEST(Kit, AThrowingConstructorAndAMissingTypeAreReported) {
  const auto message = [](const char* type, const char* word) -> std::string {
    try {
      const Handler handler(type, {{"word", word}});
      return "";
    } catch (const std::exception& thrown) {
      return thrown.what();
    }
  };
  EXPECT_EQ(message("kit.echo", "bad"), "[plugins.kit] word is bad");
  EXPECT_EQ(
      message("kit.nope", ""),
      "no handler for 'kit.nope'; offered: 'kit.writer' 'kit.all.*' 'kit.all.of.*' 'kit.echo' "
      "'kit.verdict' 'kit.patient' 'kit.several'");
}

TEST(Kit, StopIsRequestedAfterANumberOfCalls) {
  Handler patient("kit.patient");
  patient.request_stop(100);
  const auto ran = patient.run("");
  EXPECT_EQ(ran.outcome, allot::retry("stopped"));
  EXPECT_EQ(ran.heartbeats, 100);
  EXPECT_EQ(ran.stops_asked, 101);
}

TEST(Kit, StopIsRequestedFromAnotherThread) {
  Handler patient("kit.patient");
  std::thread other([&patient] { patient.request_stop(); });
  EXPECT_EQ(patient.run("").outcome, allot::retry("stopped"));
  other.join();
}

TEST(Kit, StopIsRequestedWhenTheTimeIsOver) {
  Handler patient("kit.patient");
  EXPECT_EQ(patient.run({.time_left = milliseconds(20)}).outcome, allot::retry("stopped"));
}

TEST(Kit, WritesOfAHandlerAreKept) {
  Handler writer("kit.writer");
  const auto ran = writer.run("");
  EXPECT_EQ(ran.outcome, allot::success());
  EXPECT_EQ(ran.checkpoints, std::vector<std::string>{"half"});
  ASSERT_EQ(ran.submitted.size(), 1U);
  EXPECT_EQ(ran.submitted[0].type + " " + ran.submitted[0].payload, "other now");
  ASSERT_EQ(ran.replaced_with.size(), 2U);
  EXPECT_EQ(ran.replaced_with[0].payload, "id-1") << "what submit() answered";
  EXPECT_EQ(ran.replaced_with[0].queue, "q");
  EXPECT_EQ(ran.replaced_with[0].prio, 2U);
  EXPECT_EQ(ran.replaced_with[1].type, "last");
  EXPECT_EQ(ran.replaced_with[1].prio, 1U);
  EXPECT_EQ(ran.statements, (std::vector<std::string>{
                                "INSERT INTO seen VALUES (?, ?, ?) [0840dqg2v5n80r00, -3, NULL]",
                                "SELECT name FROM people"}));
}

TEST(Kit, ATestStandsInForTheDatabase) {
  Handler writer("kit.writer");
  allot::test::Task task;
  task.sql = [](const std::string& statement, const std::vector<std::string>& values) {
    allot::SqlResult result;
    if (values.empty()) result.rows = {{"Ada"}, {std::nullopt}};
    EXPECT_EQ(values.empty(), statement == "SELECT name FROM people");
    return result;
  };
  EXPECT_EQ(writer.run(task).log, "info Ada\ninfo nobody\n");
  task.sql = [](const std::string&, const std::vector<std::string>&) -> allot::SqlResult {
    throw allot::CallError(ALLOT_DATABASE_ERROR, 1062, "there is one already");
  };
  EXPECT_EQ(writer.run(task).outcome, allot::fail("1062 there is one already"));
}

TEST(Kit, SeveralTasksRunInOneCall) {
  Handler several("kit.several");
  const auto ran = several.run_many({{.payload = "submit"},
                                     {.payload = "fail", .time_left = milliseconds(60'000)},
                                     {.payload = "late", .time_left = milliseconds(0)}});
  ASSERT_EQ(ran.error, std::nullopt);
  ASSERT_EQ(ran.each.size(), 3U);
  EXPECT_EQ(ran.each[0].outcome, allot::success());
  EXPECT_EQ(ran.each[1].outcome, allot::fail("never"));
  EXPECT_EQ(ran.each[2].outcome, allot::retry("stopped"));
  EXPECT_EQ(ran.each[0].log, "info submit of 3\n");
  EXPECT_EQ(ran.each[1].log, "info fail of 3\n");
  EXPECT_EQ(ran.each[0].submitted.size(), 1U);
  EXPECT_TRUE(ran.each[1].submitted.empty());
}

TEST(Kit, ACallThatSaysNothingSaysWhy) {
  Handler several("kit.several");
  const auto ran = several.run_many({{.payload = "a"}, {.payload = "throw"}});
  EXPECT_EQ(ran.error, "std::runtime_error: thrown");
  ASSERT_EQ(ran.each.size(), 2U);
  EXPECT_EQ(ran.each[0].log, "info a of 2\n");
  EXPECT_EQ(several.run("throw").outcome, allot::success()) << "what a worker does then";
}

TEST(Kit, SingleTaskCallsAreRefusedForSeveral) {
  Handler several("kit.several");
  const auto ran = several.run_many({{.payload = "writes"}, {}});
  EXPECT_EQ(ran.each.at(0).outcome,
            allot::fail("2 not in a call with several tasks: only submit is allowed there"));
  EXPECT_TRUE(ran.each.at(0).checkpoints.empty());
}

TEST(Kit, NoCallThatAWorkerWouldNotMake) {
  Handler several("kit.several");
  EXPECT_THROW(several.run_many({{.payload = "alone"}}), std::invalid_argument);
  EXPECT_THROW(several.run_many({{}, {}, {}, {}}), std::invalid_argument);
  Handler echo("kit.echo");
  EXPECT_THROW(echo.run_many({{}, {}}), std::invalid_argument);
}

TEST(Kit, ALostLeaseIsAnException) {
  Handler writer("kit.writer");
  const auto ran = writer.run({.lease_lost = true});
  EXPECT_EQ(ran.outcome, allot::retry("allot::LeaseLost: the lease is lost"));
  EXPECT_TRUE(ran.checkpoints.empty());
}

TEST(Kit, TheLongestPrefixIsFound) {
  EXPECT_EQ(Handler("kit.all.x").run("").log.substr(0, 5), "debug");
  EXPECT_EQ(Handler("kit.all.of.x").run("fail").outcome, allot::fail("never"));
  EXPECT_THROW(Handler("kit.all."), std::invalid_argument);
  EXPECT_THROW(Handler("kit.al.x"), std::invalid_argument);
}

TEST(Kit, AFinishedPluginIsRunToo) {
  const allot_plugin& plugin = allot::test::open(ALLOT_C_PLUGIN);
  Handler c(plugin, "test.c");
  EXPECT_EQ(c.run("").outcome, allot::success());
  EXPECT_EQ(c.run("count").outcome, allot::fail("run 2 of attempt 1"));
  EXPECT_EQ(c.run("greedy").outcome.reason.size(), 65536U);
  EXPECT_EQ(testing::PrintToString(c.run("unknown").outcome), "unknown outcome()");
  EXPECT_THROW(allot::test::open("/nonexistent.so"), std::runtime_error);
}

}  // namespace
