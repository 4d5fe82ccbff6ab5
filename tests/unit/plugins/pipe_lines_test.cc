// SPDX-License-Identifier: Apache-2.0
// Format of the lines.
#include <gtest/gtest.h>

#include <allot/testing.hpp>
#include <string>

#include "pipe/lines.h"

namespace pipe_plugin {
namespace {

using Kind = Said::Kind;

std::string refusal(const std::string& line) {
  try {
    (void)read_line(line);
    return "accepted";
  } catch (const BadLine& bad) {
    return bad.what();
  }
}

TEST(PipeLines, AcceptedLines) {
  EXPECT_EQ(read_line(R"({"kind":"hello","protocol":1})").kind, Kind::kHello);
  const auto verdict =
      read_line(R"({"kind":"verdict","id":"a","verdict":"retry","reason":"x","delay":"2h"})");
  EXPECT_EQ(verdict.id, "a");
  EXPECT_EQ(verdict.verdict.kind, ALLOT_RETRY);
  EXPECT_EQ(verdict.verdict.delay, std::chrono::hours(2));
  EXPECT_EQ(read_line(R"({"kind":"verdict","id":"a","verdict":"exception"})").verdict.kind,
            ALLOT_EXCEPTION);
  EXPECT_EQ(read_line(R"({"kind":"log","id":"a","text":"x","level":"error"})").level,
            ALLOT_LOG_ERROR);
  EXPECT_EQ(read_line(R"({"kind":"checkpoint","id":"a","payload_base64":"AP8="})").payload,
            std::string("\0\xff", 2));
}

TEST(PipeLines, ProgressIsAPercentageWithAWord) {
  const auto said = read_line(R"({"kind":"progress","id":"a","percent":40,"word":"w"})");
  EXPECT_EQ(said.kind, Kind::kProgress);
  EXPECT_EQ(said.percent, 40U);
  EXPECT_EQ(said.text, "w");
  EXPECT_EQ(read_line(R"({"kind":"progress","id":"a","percent":0})").text, "");
  for (const char* bad : {R"("percent":101)", R"("percent":-1)", R"("word":"w")"}) {
    EXPECT_EQ(refusal(R"({"kind":"progress","id":"a",)" + std::string(bad) + "}"),
              "'percent' must be 0 to 100");
  }
}

TEST(PipeLines, AnExceptionIsReportedInThreeTexts) {
  const auto told = [](const std::string& fields) {
    const auto said =
        read_line(R"({"kind":"verdict","id":"a","verdict":"exception")" + fields + "}");
    return said.verdict;
  };
  const auto all = told(R"(,"class":"KeyError","message":"'ada'","trace":"a\nb","delay":"2s")");
  EXPECT_EQ(all.reason, "KeyError: 'ada'");
  EXPECT_EQ(all.detail, "a\nb");
  EXPECT_EQ(all.delay, std::chrono::seconds(2));
  EXPECT_EQ(told(R"(,"class":"KeyError")").reason, "KeyError");
  EXPECT_EQ(told(R"(,"message":"no")").reason, "no");
  EXPECT_EQ(refusal(R"({"kind":"verdict","id":"a","verdict":"exception","reason":"x"})"),
            "unknown field 'reason'");
  const auto failed = read_line(
      R"({"kind":"verdict","id":"a","verdict":"fail","class":"E","message":"m","trace":"t"})");
  EXPECT_EQ(failed.verdict.kind, ALLOT_FAIL);
  EXPECT_EQ(failed.verdict.reason, "E: m");
  EXPECT_EQ(failed.verdict.detail, "t");
  EXPECT_EQ(refusal(R"({"kind":"verdict","id":"a","verdict":"retry","reason":"y","trace":"x"})"),
            "unknown field 'trace'");
  EXPECT_EQ(refusal(R"({"kind":"verdict","id":"a","verdict":"success","trace":"x"})"),
            "unknown field 'trace'");
  const std::string both = told(",\"trace\":\"first" + std::string(70'000, 'x') + "last\"").detail;
  EXPECT_LT(both.size(), std::size_t{61} << 10);
  EXPECT_EQ(both.substr(0, 5) + both.substr(both.size() - 4), "firstlast");
}

// Most lines are read without the parser, with the same result.
TEST(PipeLines, AreTheSameHoweverTheyAreWritten) {
  for (const char* line :
       {R"({"kind":"verdict","id":"a","verdict":"fail","reason":"x y"})",
        R"({"kind": "verdict", "id": "a", "verdict": "fail", "reason": "x y"})",
        R"( {"kind" : "verdict","id":  "a","verdict":"fail","reason":"x y"} )",
        R"({"kind":"verdict","id":"a","verdict":"fail","reason":"x\u0020y"} )"}) {
    const auto said = read_line(line);
    EXPECT_EQ(said.id, "a") << line;
    EXPECT_EQ(said.verdict, allot::fail("x y")) << line;
  }
  for (const char* line :
       {R"({"kind":"heartbeat","id":"a",})", R"({"kind":"heartbeat","id":"a")",
        R"({"kind":"heartbeat","id":"a"}})", R"({"kind":"heartbeat","id":"a"} x)",
        R"({"kind":"heartbeat" "id":"a"})", R"({"kind":"heartbeat","id":"a)",
        R"({"kind":"heartbeat","id"})", "{", "\"", ""}) {
    EXPECT_EQ(refusal(line).rfind("it is not ", 0), 0U) << line << ": " << refusal(line);
  }
  EXPECT_EQ(refusal("{}"), "'kind' is missing");
}

TEST(PipeLines, ATaskHasTheOptionsOfASubmission) {
  const auto said = read_line(
      R"({"kind":"submit","id":"a","tasks":[{"type":"t","payload":"p","queue":"q","prio":3,)"
      R"("delay":"1d","unique_key":"k","unique_for":"0s","partition_key":"c","expires_in":"5m"},)"
      R"({"type":"u","run_at":1.5,"expires_at":1798761600,"max_attempts":2,"traceparent":"x",)"
      R"("tracestate":"y"}]})");
  ASSERT_EQ(said.trouble, "");
  ASSERT_EQ(said.tasks.size(), 2U);
  EXPECT_EQ(said.tasks[0].prio, 3U);
  EXPECT_EQ(said.tasks[0].delay, std::chrono::hours(24));
  EXPECT_EQ(said.tasks[0].unique_key, "k");
  EXPECT_EQ(said.tasks[0].unique_for, std::chrono::seconds(0));
  EXPECT_EQ(said.tasks[0].partition_key, "c");
  EXPECT_EQ(said.tasks[0].expires_in, std::chrono::minutes(5));
  EXPECT_EQ(said.tasks[1].run_at->time_since_epoch(), std::chrono::milliseconds(1500));
  EXPECT_EQ(said.tasks[1].expires_at->time_since_epoch(), std::chrono::seconds(1798761600));
  EXPECT_EQ(said.tasks[1].max_attempts, 2U);
  EXPECT_EQ(said.tasks[1].traceparent, "x");
  EXPECT_EQ(said.tasks[1].tracestate, "y");
}

// The program is informed, and continues: the mistake concerns the task, not the protocol.
TEST(PipeLines, AnInvalidTaskIsTrouble) {
  const auto trouble = [](const std::string& task) {
    return read_line(R"({"kind":"submit","id":"a","tasks":[)" + task + "]}").trouble;
  };
  EXPECT_EQ(trouble(R"({})"), "task 0: 'type' is missing");
  EXPECT_EQ(trouble(R"({"type":"t"},7)"), "task 1: a task must be an object");
  EXPECT_EQ(trouble(R"({"type":"t","prio":4})"), "task 0: 'prio' must be 0 (first) to 3");
  EXPECT_EQ(trouble(R"({"type":"t","prio":1.5})"), "task 0: 'prio' must be a whole number");
  EXPECT_EQ(trouble(R"({"type":"t","delay":"5"})"),
            "task 0: 'delay' is not a time; write \"300ms\", \"30s\", \"5m\"");
  EXPECT_EQ(trouble(R"({"type":"t","run_at":"noon"})"),
            "task 0: 'run_at' must be a number of seconds since 1970");
  EXPECT_EQ(trouble(R"({"type":"t","run_at":1e300})"),
            "task 0: 'run_at' must be a number of seconds since 1970");
  EXPECT_EQ(trouble(R"({"type":"t","payload":"","payload_base64":""})"),
            "task 0: 'payload_base64' and 'payload' exclude each other");
  EXPECT_EQ(trouble(R"({"type":"t","payload_base64":"A==="})"),
            "task 0: 'payload_base64' is not base64");
  EXPECT_EQ(trouble(R"({"type":"t","colour":1})"), "task 0: unknown field 'colour'");
}

// With a duplicate field the meaning is ambiguous; and text after a NUL byte is not skipped.
TEST(PipeLines, AFieldThatIsThereTwiceIsRefusedByName) {
  EXPECT_EQ(refusal(R"({"kind":"verdict","id":"b","id":"a","verdict":"fail","reason":"x"})"),
            "'id' occurs twice");
  EXPECT_EQ(refusal(R"({"kind":"submit","id":"a","tasks":[{"type":"t","type":"u"}]})"),
            "'type' occurs twice");
  EXPECT_EQ(refusal(R"({"kind":"submit","id":"a","tasks":[{"type":"t","run_at":1e400}]})"),
            "'run_at' is a number out of range, at byte 61");
  using namespace std::string_literals;
  EXPECT_EQ(refusal("{\"kind\":\"heartbeat\",\"id\":\"a\"}\0{}"s),
            "it is not JSON, at byte 30: a NUL byte");
}

TEST(PipeLines, InvalidLineIsRefused) {
  EXPECT_EQ(refusal(""), "it is not JSON, at byte 1");
  EXPECT_EQ(refusal("[]"), "not a JSON object");
  EXPECT_EQ(refusal("{\"kind\":\"hello\",\"protocol\":1}{}"),
            "it is not a single JSON value, at byte 30");
  EXPECT_EQ(refusal("{}"), "'kind' is missing");
  EXPECT_EQ(refusal(R"({"kind":7})"), "'kind' must be a string");
  EXPECT_EQ(refusal(R"({"kind":"verdict","verdict":"success"})"), "'id' is missing");
  EXPECT_EQ(refusal(R"({"kind":"ping","id":"a"})"), "unknown kind 'ping'");
  EXPECT_EQ(refusal(R"({"kind":"hello"})"), "'protocol' is missing");
  EXPECT_EQ(refusal(R"({"kind":"verdict","id":"a","verdict":"ok"})"),
            "unknown verdict 'ok'; known: success, retry, fail, snooze, release, exception");
  EXPECT_EQ(refusal(R"({"kind":"verdict","id":"a","verdict":"snooze"})"), "a snooze needs 'delay'");
  EXPECT_EQ(refusal(R"({"kind":"log","id":"a","text":"x","level":"loud"})"),
            "unknown level 'loud'");
  EXPECT_EQ(refusal(R"({"kind":"checkpoint","id":"a"})"), "'payload' is missing");
  EXPECT_EQ(refusal(R"({"kind":"submit","id":"a","tasks":{}})"), "'tasks' must be an array");
  EXPECT_EQ(refusal(std::string(100'000, '[')), "it is nested too deeply");
  EXPECT_EQ(refusal(R"({"kind":")" + std::string(1000, 'x') + "\"}").size(), 118U);
}

}  // namespace
}  // namespace pipe_plugin
