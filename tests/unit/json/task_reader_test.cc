// SPDX-License-Identifier: Apache-2.0
#include "json/task_reader.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace allot::as_json {
namespace {

std::string payload_of(const std::string& value) {
  const auto line = read_task(R"({"queue":"q","type":"t","payload":)" + value + "}");
  return line ? line->payload : "no line";
}

// Message that refuses the line; empty if it is accepted.
std::string line_refusal(const std::string& text) {
  try {
    (void)read_task(text);
    return {};
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), kExitBadInput);
    return error.what();
  }
}

TEST(TaskReader, AllFields) {
  const auto line = read_task(R"( {"prio":3, "payload":"p", "type":"mail.send", "queue":"mail"} )");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->named, "mail");
  EXPECT_EQ(line->type, "mail.send");
  EXPECT_EQ(line->payload, "p");
  EXPECT_EQ(line->options.prio, 3U);
}

TEST(TaskReader, PayloadAndPrioMayBeLeftOut) {
  const auto line = read_task(R"({"queue":"q","type":"t"})");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->payload, "");
  EXPECT_EQ(line->options.prio, queue::kDefaultPrio);
}

TEST(TaskReader, WhenItIsDue) {
  const auto after = read_task(R"({"queue":"q","type":"t","delay":"5m"})");
  EXPECT_EQ(after->options.delay, std::chrono::minutes(5));
  EXPECT_FALSE(after->options.run_at);
  const auto at = read_task(R"({"run_at":"2026-12-24T18:00:00Z","queue":"q","type":"t"})");
  EXPECT_EQ(at->options.run_at->time_since_epoch(), std::chrono::seconds(1'798'135'200));
  EXPECT_NE(line_refusal(R"({"queue":"q","type":"t","delay":5})").find("'delay' must be a string"),
            std::string::npos);
  EXPECT_NE(line_refusal(R"({"queue":"q","type":"t","delay":"soon"})").find("'delay' is \"soon\""),
            std::string::npos);
  EXPECT_NE(line_refusal(R"({"queue":"q","type":"t","run_at":"soon"})").find("'run_at' is"),
            std::string::npos);
}

TEST(TaskReader, TheOtherOptions) {
  const auto line =
      read_task(R"({"queue":"q","type":"t","unique_key":"u","unique_for":"0s","partition_key":"k",)"
                R"("expires_in":"1h","compress_above":0})");
  EXPECT_EQ(line->options.unique_key, "u");
  EXPECT_EQ(line->options.unique_for.count(), 0);
  EXPECT_EQ(line->options.partition_key, "k");
  EXPECT_EQ(line->options.expires_in, std::chrono::hours(1));
  EXPECT_EQ(line->options.compress_above, 0U);
  const auto at = read_task(R"({"expires_at":"2026-12-24T18:00:00Z","queue":"q","type":"t"})");
  EXPECT_EQ(at->options.expires_at->time_since_epoch(), std::chrono::seconds(1'798'135'200));
  EXPECT_FALSE(at->options.compress_above);
  for (const char* value : {"\"1\"", "-1", "1.5", "null", "[1]"}) {
    const std::string text = R"({"queue":"q","type":"t","compress_above":)";
    EXPECT_NE(line_refusal(text + value + "}").find("'compress_above' must be a whole number"),
              std::string::npos)
        << value;
  }
  EXPECT_NE(line_refusal(R"({"queue":"q","type":"t","prio":1,"prio":1})").find("twice"),
            std::string::npos);
}

TEST(TaskReader, Headers) {
  const auto line =
      read_task(R"({"queue":"q","type":"t","max_attempts":3,"traceparent":"p","tracestate":"s"})");
  EXPECT_EQ(line->options.max_attempts, 3U);
  EXPECT_EQ(line->options.traceparent, "p") << "whether it is valid is looked at later";
  EXPECT_EQ(line->options.tracestate, "s");
  EXPECT_FALSE(read_task(R"({"queue":"q","type":"t"})")->options.max_attempts);
  for (const char* value : {"0", "100001", "\"1\"", "-1", "1.5", "null", "[1]", "4294967297"}) {
    const std::string text = R"({"queue":"q","type":"t","max_attempts":)";
    EXPECT_NE(line_refusal(text + value + "}").find("'max_attempts' must be a whole number, 1 to"),
              std::string::npos)
        << value;
  }
  EXPECT_NE(line_refusal(R"({"queue":"q","type":"t","traceparent":1})").find("must be a string"),
            std::string::npos);
}

TEST(TaskReader, AnEmptyLineIsNotATask) {
  for (const char* text : {"", " ", "\t \r"}) EXPECT_FALSE(read_task(text)) << '"' << text << '"';
}

TEST(TaskReader, AStringIsItsBytes) {
  EXPECT_EQ(payload_of(R"("")"), "");
  EXPECT_EQ(payload_of(R"("a\u0000b\n\"\\\/\u00e4\ud83d\ude00")"),
            std::string("a\0b\n\"\\/\u00e4\U0001f600", 13));
  EXPECT_EQ(payload_of("\"\u00e4\""), "\u00e4");
}

// Any other payload is its JSON text: same order, same digits, no blanks.
TEST(TaskReader, AnythingElseIsItsJson) {
  EXPECT_EQ(payload_of(R"({"z": [1, 2.50, -3, {"y": "a\u0000 b"}, [], {}], "a": null, "z": true})"),
            R"({"z":[1,2.50,-3,{"y":"a\u0000 b"},[],{}],"a":null,"z":true})");
  EXPECT_EQ(payload_of("123456789012345678901234567890"), "123456789012345678901234567890");
  EXPECT_EQ(payload_of("0.1000000000000000055511151231257827"),
            "0.1000000000000000055511151231257827");
  EXPECT_EQ(payload_of("18446744073709551615"), "18446744073709551615");
  EXPECT_EQ(payload_of("-1"), "-1");
  EXPECT_EQ(payload_of("false"), "false");
  EXPECT_EQ(payload_of("null"), "null");
  EXPECT_EQ(payload_of("[ ]"), "[]");
}

TEST(TaskReader, FieldsInsideThePayloadAreItsOwn) {
  EXPECT_EQ(payload_of(R"({"queue": 1, "type": [], "prio": "x", "other": {"payload": 2}})"),
            R"({"queue":1,"type":[],"prio":"x","other":{"payload":2}})");
}

// A recursive parser would overflow its stack.
TEST(TaskReader, DepthCostsNoStack) {
  const std::size_t deep = 2'000'000;
  const std::string payload = std::string(deep, '[') + std::string(deep, ']');
  EXPECT_TRUE(payload_of(payload) == payload);
}

TEST(TaskReader, ALineMayNameNoQueue) {
  EXPECT_EQ(read_task(R"({"type":"t"})")->named, "");
  EXPECT_EQ(read_task(R"({"queue":"","type":"t"})")->named, "");
}

TEST(TaskReader, RefusalsNameTheField) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"queue":"q"})", "'type' is missing"},
      {R"({"queue":1,"type":"t"})", "'queue' must be a string"},
      {R"({"queue":"q","type":["t"]})", "'type' must be a string"},
      {R"({"queue":"q","type":null})", "'type' must be a string"},
      {R"({"queue":"q","type":{}})", "'type' must be a string"},
      {R"({"queue":"q","type":"t","prio":4})", "'prio' must be 0 (first) to 3"},
      {R"({"queue":"q","type":"t","prio":-1})", "'prio' must be 0 (first) to 3"},
      {R"({"queue":"q","type":"t","prio":1.0})", "'prio' must be 0 (first) to 3"},
      {R"({"queue":"q","type":"t","prio":"1"})", "'prio' must be 0 (first) to 3"},
      {R"({"queue":"q","type":"t","prio":[1]})", "'prio' must be 0 (first) to 3"},
      {R"({"queue":"q","type":"t","prio":true})", "'prio' must be 0 (first) to 3"},
      {R"({"queue":"q","type":"t","payloda":""})",
       "unknown field 'payloda'; did you mean 'payload'?"},
      {R"({"queue":"q","type":"t","x":""})", "unknown field 'x'"},
      {R"({"queue":"q","queue":"q","type":"t"})", "field 'queue' is given twice"},
      {R"({"queue":"q","type":"t","prio":1,"prio":1})", "field 'prio' is given twice"},
      {R"({"payload":1,"payload":2})", "field 'payload' is given twice"},
      {R"("queue")", "not a JSON object"},
      {"[]", "not a JSON object"},
      {"17", "not a JSON object"},
      {"null", "not a JSON object"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(line_refusal(text), expected) << text;
}

TEST(TaskReader, InvalidJsonSaysWhere) {
  const std::string good = R"({"queue":"q","type":"t","payload":"x"})";
  ASSERT_EQ(line_refusal(good), "");
  for (std::size_t size = 1; size < good.size(); ++size) {
    EXPECT_EQ(line_refusal(good.substr(0, size)).rfind("not JSON, at byte ", 0), 0U) << size;
  }
  EXPECT_EQ(line_refusal(good + "x").rfind("not JSON, at byte 39: ", 0), 0U)
      << line_refusal(good + "x");
  EXPECT_EQ(line_refusal(good + good).rfind("not JSON, at byte 39: ", 0), 0U);
  EXPECT_EQ(line_refusal(R"({"queue":"q","type":"t","payload":"\ud800"})").rfind("not JSON", 0),
            0U);
}

TEST(TaskReader, BytesThatAreNoUtf8AreRefusedAndNotPrinted) {
  for (const char* bytes : {"\xff", "\xc3", "\xc0\x80", "\xed\xa0\x80", "\xf5\x80\x80\x80"}) {
    const std::string why =
        line_refusal(R"({"queue":"q","type":"t","payload":")" + std::string(bytes) + "\"}");
    EXPECT_EQ(why.rfind("not JSON", 0), 0U) << why;
    EXPECT_NE(why.find("UTF-8"), std::string::npos) << why;
    EXPECT_EQ(why.find(bytes), std::string::npos) << why;
  }
}

// The parser would treat it as the end: the rest would be lost silently.
TEST(TaskReader, ANulByteIsRefused) {
  const std::string good = R"({"queue":"q","type":"t"})";
  EXPECT_NE(line_refusal(good + std::string("\0", 1)), "");
  EXPECT_NE(line_refusal(good + std::string("\0 more", 6)), "");
}

TEST(TaskReader, AMessageStaysShort) {
  const std::string huge(5'000'000, 'x');
  EXPECT_LT(line_refusal("{\"" + huge + "\":1}").size(), 200U);
  EXPECT_LT(line_refusal(R"({"queue":"q","type":"t","payload":")" + huge).size(), 400U);
  EXPECT_LT(line_refusal("{\"queue\":" + huge + "}").size(), 400U);
}

// Message that refuses a body; empty if it is accepted.
std::string body_refusal(const std::string& text) {
  try {
    (void)read_body(text);
    return {};
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), kExitBadInput);
    return error.what();
  }
}

TEST(TaskBody, OneTask) {
  const TaskBody body = read_body(R"({"queue":"q","type":"t","payload":{"a":[1]}})");
  EXPECT_FALSE(body.several);
  ASSERT_EQ(body.tasks.size(), 1U);
  EXPECT_EQ(body.tasks[0].payload, R"({"a":[1]})");
}

TEST(TaskBody, SeveralTasksShareNothing) {
  const TaskBody body = read_body(
      R"([{"queue":"q","type":"t","payload":[[1,2],3],"prio":0}, {"type":"u","payload":"x"},
          {"type":"v","payload":{"queue":1}}])");
  EXPECT_TRUE(body.several);
  ASSERT_EQ(body.tasks.size(), 3U);
  EXPECT_EQ(body.tasks[0].payload, "[[1,2],3]");
  EXPECT_EQ(body.tasks[0].options.prio, 0U);
  EXPECT_EQ(body.tasks[1].named, "");
  EXPECT_EQ(body.tasks[1].payload, "x");
  EXPECT_EQ(body.tasks[1].options.prio, queue::kDefaultPrio);
  EXPECT_EQ(body.tasks[2].payload, R"({"queue":1})");
  EXPECT_TRUE(read_body("[]").tasks.empty());
}

TEST(TaskBody, ARefusalSaysWhichOne) {
  EXPECT_EQ(body_refusal(R"([{"type":"t"},{"queue":"q"}])"), "task 1: 'type' is missing");
  EXPECT_EQ(body_refusal(R"([{"type":"t"},{"typo":"q"}])"),
            "task 1: unknown field 'typo'; did you mean 'type'?");
  EXPECT_EQ(body_refusal(R"([{"type":"t"},7])"), "task 1: not a JSON object");
  EXPECT_EQ(body_refusal(R"([[{"type":"t"}]])"), "task 0: not a JSON object");
  EXPECT_EQ(body_refusal("7"), "not a JSON object");
  EXPECT_EQ(body_refusal("").rfind("not JSON, at byte 1: ", 0), 0U);
}

TEST(TaskBody, APayloadAsBase64) {
  EXPECT_EQ(read_body(R"({"type":"t","payload_base64":"AAEC/w=="})").tasks[0].payload,
            std::string("\0\1\2\xff", 4));
  EXPECT_EQ(body_refusal(R"({"type":"t","payload_base64":"AAEC/w"})"),
            "'payload_base64' is not valid base64 (with padding, without line breaks)");
  EXPECT_EQ(body_refusal(R"({"type":"t","payload_base64":"","payload":""})"),
            "'payload_base64' and 'payload' exclude each other");
  EXPECT_EQ(body_refusal(R"({"type":"t","payload_base64":7})"),
            "'payload_base64' must be a string");
  EXPECT_EQ(line_refusal(R"({"type":"t","payload_base64":""})"), "unknown field 'payload_base64'");
}

TEST(TaskBody, DepthIsBounded) {
  const auto nested = [](std::size_t deep, const std::string& before, const std::string& after) {
    return before + R"({"type":"t","payload":)" + std::string(deep, '[') + std::string(deep, ']') +
           "}" + after;
  };
  EXPECT_EQ(body_refusal(nested(99, "", "")), "");
  EXPECT_EQ(body_refusal(nested(100, "", "")),
            "'payload' is nested deeper than 100 levels; send it as a string");
  EXPECT_EQ(body_refusal(nested(99, "[", "]")), "");
  EXPECT_EQ(body_refusal(nested(100, "[", "]")),
            "task 0: 'payload' is nested deeper than 100 levels; send it as a string");
  const std::size_t million = 1'000'000;
  EXPECT_NE(body_refusal(nested(million, "", "")), "");
  EXPECT_NE(body_refusal(std::string(million, '[')), "");
  EXPECT_NE(body_refusal(R"({"type":"t","payload":)" + std::string(million, '{')), "");
}

TEST(TaskBody, TheNumberOfTasksIsLimited) {
  std::string body = "[";
  for (std::size_t i = 0; i < kMaxTasks; ++i) body += R"({"type":"t"},)";
  EXPECT_EQ(read_body(body.substr(0, body.size() - 1) + "]").tasks.size(), kMaxTasks);
  EXPECT_EQ(body_refusal(body + R"({"type":"t"}])"),
            "task 10000: more than 10000 tasks: send them as NDJSON");
}

TEST(TaskReader, ANumberOutOfRangeIsNamed) {
  const std::string what = " has a number that is out of range; send such a payload as a string";
  EXPECT_EQ(line_refusal(R"({"queue":"q","type":"t","payload":1e999})"), "'payload'" + what);
  EXPECT_EQ(line_refusal(R"({"queue":"q","type":"t","payload":{"a":[-1e999]}})"),
            "'payload'" + what);
  EXPECT_EQ(line_refusal(R"({"queue":"q","prio":1e400})"), "'prio'" + what);
  EXPECT_EQ(body_refusal(R"([{"type":"t"},{"prio":1e400}])"), "task 1: 'prio'" + what);
  EXPECT_EQ(field_of("task 1: 'prio'" + what), "prio");
}

TEST(FieldOf, AMessageBeginsWithItsField) {
  const std::pair<const char*, const char*> cases[] = {
      {"'delay' is \"soon\": not a whole number", "delay"},
      {"unknown field 'x-y'", "x-y"},
      {"field 'prio' is given twice", "prio"},
      {"'type' is missing", "type"},
      {"type 'a b': 1 to 127 of A-Z a-z 0-9 . _ - are allowed", "type"},
      {"payload of 17 bytes: the limit is", "payload"},
      {"run_at: the year 2150 or later", "run_at"},
      {"queue 'mail' does not exist", "queue"},
      {"task 3: unique_key of 300 bytes: 1 to 255 are allowed", "unique_key"},
      {"task 3: unknown field 'z'", "z"},
      {"not JSON, at byte 1: queue", ""},
      {"the task expires before it is due, so it would never run", ""},
      {"", ""},
      {"task ", ""},
      {"'", ""}};
  for (const auto& [message, field] : cases) EXPECT_EQ(field_of(message), field) << message;
}

}  // namespace
}  // namespace allot::as_json
