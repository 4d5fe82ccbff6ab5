// SPDX-License-Identifier: Apache-2.0
// A client that is slow, or completely silent, is disconnected.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <string>

#include "gateway/http/body_rate.h"
#include "support/eventually.h"
#include "support/http_client.h"
#include "unit/gateway/tiny_application.h"

namespace allot::test {
namespace {

using std::chrono::milliseconds;

// Each limit except one is longer than any test.
http::Limits patient() {
  http::Limits limits;
  limits.head_time = limits.idle_time = limits.answer_time = limits.body_window =
      std::chrono::minutes(10);
  return limits;
}

TEST(Slow, AHeadThatDoesNotEndIsRefused) {
  TinyApplication application;
  http::Limits limits = patient();
  limits.head_time = milliseconds(200);
  RunningServer server(application, limits);
  auto client = HttpClient::to_port(server.port());
  const auto answer = client.ask("GET /hello HTTP/1.1\r\nHost: te");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 408);
  client.shut_sending();
  EXPECT_TRUE(client.is_closed());
}

// Single bytes do not help: the time limit applies to the whole head.
TEST(Slow, ADrippingHeadIsRefused) {
  TinyApplication application;
  http::Limits limits = patient();
  limits.head_time = milliseconds(300);
  RunningServer server(application, limits);
  auto client = HttpClient::to_port(server.port());
  client.send("GET /hello HTTP/1.1\r\nX: ");
  const bool ended = support::eventually([&] {
    client.send("x");
    char byte = 0;
    return recv(client.fd(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 1;
  });
  ASSERT_TRUE(ended);
  EXPECT_EQ(client.answer()->status, 408);
}

TEST(Slow, AnIdleConnectionIsClosedInSilence) {
  TinyApplication application;
  http::Limits limits = patient();
  limits.idle_time = milliseconds(200);
  RunningServer server(application, limits);
  auto fresh = HttpClient::to_port(server.port());
  EXPECT_TRUE(fresh.is_closed());
  // It may be closed before it is used.
  EXPECT_TRUE(support::eventually([&] {
    auto used = HttpClient::to_port(server.port());
    return used.ask(get("/hello")) && used.is_closed();
  }));
}

TEST(Slow, ABodyBelowTheRateIsRefused) {
  TinyApplication application;
  http::Limits limits = patient();
  limits.body_window = milliseconds(200);
  limits.body_rate = 1'000'000;
  RunningServer server(application, limits);
  auto client = HttpClient::to_port(server.port());
  const auto answer =
      client.ask("POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: 100\r\n\r\nhalf");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 408);
  EXPECT_EQ(application.answered(), 0);
}

// A fast beginning does not extend the time.
TEST(Slow, ABodyThatStallsIsRefusedHoweverMuchHasCome) {
  TinyApplication application;
  http::Limits limits = patient();
  limits.body_window = milliseconds(200);
  limits.body_rate = 10;
  RunningServer server(application, limits);
  auto client = HttpClient::to_port(server.port());
  const auto answer = client.ask(
      "POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: 1000\r\n\r\n" + std::string(999, 'x'));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 408);
}

// A stream between two lines holds nothing.
TEST(Slow, AStreamMayPauseBetweenItsLines) {
  TinyApplication application;
  http::Limits limits = patient();
  limits.body_window = milliseconds(50);
  limits.body_rate = 1'000'000;
  RunningServer server(application, limits);
  auto client = HttpClient::to_port(server.port());
  client.send(
      "POST /lines HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n4\r\none\n\r\n");
  ASSERT_TRUE(client.head());
  EXPECT_EQ(client.chunk(), "took 4\n");
  // A client that has begun a line is disconnected in this time.
  auto other = HttpClient::to_port(server.port());
  EXPECT_EQ(
      other.ask("POST /lines HTTP/1.1\r\nHost: test\r\nContent-Length: 9\r\n\r\nhalf")->status,
      408);
  client.send("4\r\ntwo\n\r\n0\r\n\r\n");
  EXPECT_EQ(client.chunk(), "took 4\n");
}

TEST(Slow, TheRateIsMeasuredOverEachWindow) {
  using std::chrono::seconds;
  http::BodyRate rate(seconds(10), 100);
  EXPECT_TRUE(rate.add(seconds(9), 0, 0));
  EXPECT_EQ(rate.left(), seconds(1));
  EXPECT_TRUE(rate.add(seconds(1), 1'000, 0));
  EXPECT_EQ(rate.left(), seconds(10)) << "the next window";
  EXPECT_TRUE(rate.add(seconds(0), 1'000'000, 0)) << "what comes at once takes no time";
  EXPECT_TRUE(rate.add(seconds(10), 0, 0));
  EXPECT_FALSE(rate.add(seconds(10), 999, 0));
}

// 6 MB held: a limit of ten thousand bytes a second.
TEST(Slow, ClientWithALargeBodyMustSendFaster) {
  using std::chrono::seconds;
  http::BodyRate rate(seconds(10), 100);
  EXPECT_TRUE(rate.add(seconds(10), 100'000, 6'000'000));
  EXPECT_FALSE(rate.add(seconds(10), 99'999, 6'000'000));
}

// Several windows pass, and the data keeps the rate.
TEST(Slow, ABodyAboveTheRateIsTaken) {
  TinyApplication application;
  http::Limits limits = patient();
  limits.body_window = milliseconds(20);
  limits.body_rate = 1;
  RunningServer server(application, limits);
  auto client = HttpClient::to_port(server.port());
  client.send("POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: 200\r\n\r\n" +
              std::string(100, 'x'));
  HttpClient::to_port(server.port()).ask(get("/hello"));
  client.send(std::string(100, 'x'));
  EXPECT_EQ(client.answer()->status, 200);
}

TEST(Slow, AnAnswerThatTakesTooLongIsOfUnknownOutcome) {
  TinyApplication application;
  http::Limits limits = patient();
  limits.answer_time = milliseconds(200);
  RunningServer server(application, limits);
  auto client = HttpClient::to_port(server.port());
  const auto answer = client.ask(get("/late"));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 504);
  application.answer_late("too late");
  EXPECT_EQ(HttpClient::to_port(server.port()).ask(get("/hello"))->status, 200);
}

// It never reads: the rest of the answer stays in the server for this time.
TEST(Slow, AnUnreadAnswerIsGivenUp) {
  TinyApplication application;
  http::Limits limits = patient();
  limits.answer_time = milliseconds(300);
  RunningServer server(application, limits);
  auto client = HttpClient::to_port(server.port());
  for (int count = 0; count < 4; ++count) client.send(get("/large"));
  ASSERT_TRUE(support::eventually([&] {
    // The server has closed: sending fails.
    return send(client.fd(), "x", 1, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 && errno != EAGAIN;
  }));
  EXPECT_EQ(application.answered(), 1);
}

}  // namespace
}  // namespace allot::test
