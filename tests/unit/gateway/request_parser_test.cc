// SPDX-License-Identifier: Apache-2.0
#include "gateway/http/request_parser.h"

#include <gtest/gtest.h>

#include <string>

namespace allot::gateway::http {
namespace {

const std::string kChunkedHead =
    "POST /a%20b?c=d&e HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";

// Result of reading `body` in pieces of `step` bytes; "fault 413" and the like.
std::string body_of(const std::string& body, std::size_t step, std::uint64_t most = 1'000) {
  RequestParser parser;
  EXPECT_FALSE(parser.read_head(kChunkedHead));
  parser.bound_body(most);
  std::string waiting;
  for (std::size_t at = 0; at < body.size() && !parser.done(); at += step) {
    waiting += body.substr(at, step);
    const auto result = parser.read_body(waiting);
    if (result.fault) return "fault " + std::to_string(result.fault->status);
    waiting.erase(0, result.used);
  }
  return parser.done() ? parser.body() : "more";
}

TEST(RequestParser, SaysWhatTheHeadHolds) {
  RequestParser parser;
  ASSERT_FALSE(parser.read_head(kChunkedHead));
  EXPECT_TRUE(parser.is_1_1());
  EXPECT_TRUE(parser.keeps_alive());
  EXPECT_FALSE(parser.content_length());
  EXPECT_FALSE(parser.done());
  const Head head = parser.take_head();
  EXPECT_EQ(head.method, "POST");
  EXPECT_EQ(head.path, "/a%20b");
  EXPECT_EQ(head.query, "c=d&e");
  ASSERT_NE(head.field("host"), nullptr);
  EXPECT_EQ(*head.field("host"), "a");
  EXPECT_EQ(head.field("cookie"), nullptr);
}

TEST(RequestParser, ARequestWithoutABodyIsDone) {
  RequestParser parser;
  ASSERT_FALSE(parser.read_head("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"));
  EXPECT_TRUE(parser.done());
  EXPECT_EQ(parser.content_length(), 0U);
  EXPECT_FALSE(parser.keeps_alive());
}

TEST(RequestParser, ABodyIsTheSameInAnyPieces) {
  const std::string body = "5;a=b\r\nhello\r\n1\r\n \r\n05\r\nworld\r\n0\r\nX: y\r\n\r\n";
  for (std::size_t step = 1; step <= body.size(); ++step) {
    EXPECT_EQ(body_of(body, step), "hello world") << step;
    EXPECT_EQ(body_of(body, step, 10), "fault 413") << step;
  }
}

TEST(RequestParser, RemainingBytesStayForTheNextRequest) {
  RequestParser parser;
  ASSERT_FALSE(parser.read_head("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n"));
  const auto step = parser.read_body("okGET /");
  EXPECT_EQ(step.used, 2U);
  EXPECT_TRUE(parser.done());
  EXPECT_EQ(parser.body(), "ok");
}

TEST(RequestParser, ABodyMayBeTakenAsItComes) {
  RequestParser parser;
  ASSERT_FALSE(parser.read_head(kChunkedHead));
  static_cast<void>(parser.read_body("3\r\nabc\r\n"));
  EXPECT_EQ(parser.body(), "abc");
  parser.body().clear();
  static_cast<void>(parser.read_body("\r\n2\r\nde\r\n0\r\n\r\n"));
  EXPECT_EQ(parser.body(), "de");
}

TEST(RequestParser, LongExtensionsAndTrailersAreRefused) {
  for (const std::size_t step : {1U, 7U, 4096U}) {
    EXPECT_EQ(body_of("1;" + std::string(200, 'x') + "\r\na\r\n0\r\n\r\n", step), "fault 400");
    EXPECT_EQ(body_of("1;" + std::string(9'000, 'x'), step), "fault 400");
    EXPECT_EQ(body_of("0\r\nX: " + std::string(9'000, 'x'), step), "fault 400");
  }
}

}  // namespace
}  // namespace allot::gateway::http
