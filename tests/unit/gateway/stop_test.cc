// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <chrono>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "support/eventually.h"
#include "support/http_client.h"
#include "unit/gateway/tiny_application.h"

namespace allot::test {
namespace {

class StopTest : public testing::Test {
 protected:
  bool ends() {
    return support::eventually([&] { return server_.ended(); });
  }

  TinyApplication application_;
  RunningServer server_{application_};
};

TEST_F(StopTest, AnIdleConnectionIsClosed) {
  auto client = HttpClient::to_port(server_.port());
  ASSERT_TRUE(client.ask(get("/hello")));
  server_.server().stop(std::chrono::minutes(10));
  EXPECT_TRUE(client.is_closed());
  EXPECT_TRUE(ends());
}

TEST_F(StopTest, OnlyRequestsInFlightAreAnswered) {
  auto client = HttpClient::to_port(server_.port());
  client.send(get("/late") + get("/hello"));
  ASSERT_TRUE(support::eventually([&] { return application_.late() == 1; }));
  server_.server().stop(std::chrono::minutes(10));
  // A new client finds no listener.
  ASSERT_TRUE(support::eventually([&] {
    try {
      HttpClient::to_port(server_.port());
      return false;
    } catch (const std::exception&) {
      return true;
    }
  }));
  EXPECT_FALSE(server_.ended());
  application_.answer_late("the last");
  const auto answer = client.answer();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->body, "the last");
  EXPECT_EQ(answer->fields.at("connection"), "close");
  client.shut_sending();
  EXPECT_EQ(client.rest(), "");
  EXPECT_TRUE(ends());
  EXPECT_EQ(application_.answered(), 1);
}

TEST_F(StopTest, TheGraceEndsWhatWaits) {
  auto client = HttpClient::to_port(server_.port());
  client.send(get("/late"));
  auto half = HttpClient::to_port(server_.port());
  half.send("POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: 100\r\n\r\nhalf");
  ASSERT_TRUE(support::eventually([&] { return application_.late() == 1; }));
  server_.server().stop(std::chrono::milliseconds(100));
  EXPECT_TRUE(ends());
  EXPECT_TRUE(client.is_closed());
  EXPECT_TRUE(half.is_closed());
  application_.answer_late("too late");
}

TEST_F(StopTest, ASecondStopShortensTheGrace) {
  auto client = HttpClient::to_port(server_.port());
  client.send(get("/late"));
  ASSERT_TRUE(support::eventually([&] { return application_.late() == 1; }));
  server_.server().stop(std::chrono::minutes(10));
  server_.server().stop(std::chrono::milliseconds(0));
  EXPECT_TRUE(ends());
}

// The answer comes after the end of the server: its owner has only a Reply.
TEST(Stop, AReplyOutlivesTheServer) {
  TinyApplication application;
  {
    RunningServer server(application);
    auto client = HttpClient::to_port(server.port());
    client.send(get("/late"));
    ASSERT_TRUE(support::eventually([&] { return application.late() == 1; }));
  }
  application.answer_late("too late");
}

TEST(Stop, AServerThatNeverRanEnds) {
  TinyApplication application;
  int port = 0;
  std::vector<http::Listener> listeners;
  listeners.push_back(port_listener(port));
  http::Server server(application, {}, std::move(listeners), {});
  server.stop(std::chrono::milliseconds(0));
}

}  // namespace
}  // namespace allot::test
