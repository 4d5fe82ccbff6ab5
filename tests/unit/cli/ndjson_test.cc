// SPDX-License-Identifier: Apache-2.0
#include "cli/words/ndjson.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace allot::cli {
namespace {

std::string payload_of(const std::string& value) {
  const auto line = parse_line(R"({"queue":"q","type":"t","payload":)" + value + "}");
  return line ? line->payload : "no line";
}

// The message with which the line is refused; empty when it is accepted.
std::string line_refusal(const std::string& text) {
  try {
    (void)parse_line(text);
    return {};
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), kExitBadInput);
    return error.what();
  }
}

TEST(Ndjson, AllFields) {
  const auto line =
      parse_line(R"( {"prio":3, "payload":"p", "type":"mail.send", "queue":"mail"} )");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->queue, "mail");
  EXPECT_EQ(line->type, "mail.send");
  EXPECT_EQ(line->payload, "p");
  EXPECT_EQ(line->options.prio, 3U);
}

TEST(Ndjson, PayloadAndPrioMayBeLeftOut) {
  const auto line = parse_line(R"({"queue":"q","type":"t"})");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->payload, "");
  EXPECT_EQ(line->options.prio, queue::kDefaultPrio);
}

TEST(Ndjson, WhenItIsDue) {
  const auto after = parse_line(R"({"queue":"q","type":"t","delay":"5m"})");
  EXPECT_EQ(after->options.delay, std::chrono::minutes(5));
  EXPECT_FALSE(after->options.run_at);
  const auto at = parse_line(R"({"run_at":"2026-12-24T18:00:00Z","queue":"q","type":"t"})");
  EXPECT_EQ(at->options.run_at->time_since_epoch(), std::chrono::seconds(1'798'135'200));
  EXPECT_NE(line_refusal(R"({"queue":"q","type":"t","delay":5})").find("'delay' must be a string"),
            std::string::npos);
  EXPECT_NE(line_refusal(R"({"queue":"q","type":"t","delay":"soon"})").find("'delay' is \"soon\""),
            std::string::npos);
  EXPECT_NE(line_refusal(R"({"queue":"q","type":"t","run_at":"soon"})").find("'run_at' is"),
            std::string::npos);
}

TEST(Ndjson, TheOtherOptions) {
  const auto line = parse_line(
      R"({"queue":"q","type":"t","unique_key":"u","unique_for":"0s","partition_key":"k",)"
      R"("expires_in":"1h","compress_above":0})");
  EXPECT_EQ(line->options.unique_key, "u");
  EXPECT_EQ(line->options.unique_for.count(), 0);
  EXPECT_EQ(line->options.partition_key, "k");
  EXPECT_EQ(line->options.expires_in, std::chrono::hours(1));
  EXPECT_EQ(line->options.compress_above, 0U);
  const auto at = parse_line(R"({"expires_at":"2026-12-24T18:00:00Z","queue":"q","type":"t"})");
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

TEST(Ndjson, AnEmptyLineIsNoTask) {
  for (const char* text : {"", " ", "\t \r"}) EXPECT_FALSE(parse_line(text)) << '"' << text << '"';
}

TEST(Ndjson, AStringIsItsBytes) {
  EXPECT_EQ(payload_of(R"("")"), "");
  EXPECT_EQ(payload_of(R"("a\u0000b\n\"\\\/\u00e4\ud83d\ude00")"),
            std::string("a\0b\n\"\\/\u00e4\U0001f600", 13));
  EXPECT_EQ(payload_of("\"\u00e4\""), "\u00e4");
}

// Any other payload is its JSON text: same order, same digits, no blanks.
TEST(Ndjson, AnythingElseIsItsJson) {
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

TEST(Ndjson, FieldsInsideThePayloadAreItsOwn) {
  EXPECT_EQ(payload_of(R"({"queue": 1, "type": [], "prio": "x", "other": {"payload": 2}})"),
            R"({"queue":1,"type":[],"prio":"x","other":{"payload":2}})");
}

// A parser that recurses would overflow its stack.
TEST(Ndjson, DepthCostsNoStack) {
  const std::size_t deep = 2'000'000;
  const std::string payload = std::string(deep, '[') + std::string(deep, ']');
  EXPECT_TRUE(payload_of(payload) == payload);
}

TEST(Ndjson, ALineMayNameNoQueue) {
  EXPECT_EQ(parse_line(R"({"type":"t"})")->queue, "");
  EXPECT_EQ(parse_line(R"({"queue":"","type":"t"})")->queue, "");
}

TEST(Ndjson, RefusalsNameTheField) {
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

TEST(Ndjson, WhatIsNoJsonSaysWhere) {
  const std::string good = R"({"queue":"q","type":"t","payload":"x"})";
  ASSERT_EQ(line_refusal(good), "");
  for (std::size_t size = 1; size < good.size(); ++size) {
    EXPECT_EQ(line_refusal(good.substr(0, size)).rfind("not JSON, at byte ", 0), 0U) << size;
  }
  EXPECT_EQ(line_refusal(good + "x").rfind("not JSON, at byte 39: ", 0), 0U)
      << line_refusal(good + "x");
  EXPECT_EQ(line_refusal(good + good).rfind("not JSON, at byte 39: ", 0), 0U);
  EXPECT_EQ(line_refusal(R"({"queue":"q","type":"t","payload":1e999})").rfind("not JSON", 0), 0U);
  EXPECT_EQ(line_refusal(R"({"queue":"q","type":"t","payload":"\ud800"})").rfind("not JSON", 0),
            0U);
}

TEST(Ndjson, BytesThatAreNoUtf8AreRefusedAndNotPrinted) {
  for (const char* bytes : {"\xff", "\xc3", "\xc0\x80", "\xed\xa0\x80", "\xf5\x80\x80\x80"}) {
    const std::string why =
        line_refusal(R"({"queue":"q","type":"t","payload":")" + std::string(bytes) + "\"}");
    EXPECT_EQ(why.rfind("not JSON", 0), 0U) << why;
    EXPECT_NE(why.find("UTF-8"), std::string::npos) << why;
    EXPECT_EQ(why.find(bytes), std::string::npos) << why;
  }
}

// The parser takes it for the end: the rest would be lost silently.
TEST(Ndjson, ANulByteIsRefused) {
  const std::string good = R"({"queue":"q","type":"t"})";
  EXPECT_NE(line_refusal(good + std::string("\0", 1)), "");
  EXPECT_NE(line_refusal(good + std::string("\0 more", 6)), "");
}

TEST(Ndjson, AMessageStaysShort) {
  const std::string huge(5'000'000, 'x');
  EXPECT_LT(line_refusal("{\"" + huge + "\":1}").size(), 200U);
  EXPECT_LT(line_refusal(R"({"queue":"q","type":"t","payload":")" + huge).size(), 400U);
  EXPECT_LT(line_refusal("{\"queue\":" + huge + "}").size(), 400U);
}

}  // namespace
}  // namespace allot::cli
