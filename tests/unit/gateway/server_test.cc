// SPDX-License-Identifier: Apache-2.0
#include "gateway/http/server.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/eventually.h"
#include "support/http_client.h"
#include "unit/gateway/tiny_application.h"

namespace allot::test {
namespace {

class ServerTest : public testing::Test {
 protected:
  HttpClient client() { return HttpClient::to_port(server_.port()); }

  TinyApplication application_;
  RunningServer server_{application_};
};

TEST_F(ServerTest, AConnectionServesManyRequests) {
  auto client = this->client();
  for (int count = 0; count < 3; ++count) {
    const auto answer = client.ask(get("/hello"));
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->status, 200);
    EXPECT_EQ(answer->body, "hello");
    EXPECT_EQ(answer->fields.at("x-content-type-options"), "nosniff");
    EXPECT_EQ(answer->fields.at("cache-control"), "no-store");
    EXPECT_EQ(answer->fields.count("connection"), 0U);
  }
}

TEST_F(ServerTest, AHeadMayComeInPieces) {
  auto client = this->client();
  for (const char c : get("/hello")) client.send(std::string(1, c));
  const auto answer = client.answer();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 200);
}

TEST_F(ServerTest, PipelinedRequestsAreAnsweredInOrder) {
  auto client = this->client();
  client.send(get("/late") + post("/echo", "second") + get("/hello", "Connection: close\r\n"));
  ASSERT_TRUE(support::eventually([&] { return application_.late() == 1; }));
  EXPECT_EQ(application_.answered(), 1) << "the second was asked before the first was answered";
  application_.answer_late("first");
  EXPECT_EQ(client.answer()->body, "first");
  EXPECT_EQ(client.answer()->body, "second");
  const auto third = client.answer();
  EXPECT_EQ(third->body, "hello");
  EXPECT_EQ(third->fields.at("connection"), "close");
  EXPECT_TRUE(client.is_closed());
}

TEST_F(ServerTest, ChunksMakeOneBodyAndTrailersAreDropped) {
  auto client = this->client();
  const auto answer = client.ask(
      "POST /echo HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n"
      "5;name=value\r\nhello\r\n1\r\n \r\n5\r\nworld\r\n0\r\nX-Role: operate\r\n\r\n");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->body, "hello world");
  EXPECT_EQ(client.ask(get("/fields"))->body, "host=test\n");
}

TEST_F(ServerTest, ATooLargeBodyIsRefusedBeforeItIsRead) {
  auto client = this->client();
  const auto answer =
      client.ask("POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: 1001\r\n\r\n");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 413);
  EXPECT_EQ(answer->fields.at("connection"), "close");
  EXPECT_EQ(application_.answered(), 0);
  client.shut_sending();
  EXPECT_TRUE(client.is_closed());
}

TEST_F(ServerTest, ATooLargeChunkedBodyIsRefused) {
  auto client = this->client();
  std::string chunks;
  for (int count = 0; count < 3; ++count) chunks += "190\r\n" + std::string(400, 'x') + "\r\n";
  const auto answer = client.ask(
      "POST /echo HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 413);
  EXPECT_EQ(application_.answered(), 0);
}

// The peer sends megabytes that are refused, and reads the answer only then.
TEST_F(ServerTest, ClientRefusedWhileSendingReadsTheAnswer) {
  auto client = this->client();
  client.send("POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: 4000000\r\n\r\n");
  for (int count = 0; count < 4; ++count) {
    ASSERT_TRUE(client.send(std::string(1'000'000, 'x'))) << "the connection was reset";
  }
  client.shut_sending();
  const auto answer = client.answer();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 413);
  EXPECT_TRUE(client.is_closed());
}

TEST_F(ServerTest, AnUnreadBodyIsNotARequest) {
  auto client = this->client();
  const auto answer = client.ask(post("/unknown", get("/hello")));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 404);
  client.shut_sending();
  EXPECT_TRUE(client.is_closed());
  EXPECT_EQ(application_.answered(), 0);
}

TEST_F(ServerTest, ARefusalWithoutABodyKeepsTheConnection) {
  auto client = this->client();
  EXPECT_EQ(client.ask(get("/unknown"))->status, 404);
  EXPECT_EQ(client.ask(get("/hello"))->status, 200);
}

TEST_F(ServerTest, ExpectGetsAContinue) {
  auto client = this->client();
  const auto first = client.ask(
      "POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n");
  ASSERT_TRUE(first);
  EXPECT_EQ(first->status, 100);
  EXPECT_EQ(client.ask("body")->body, "body");
}

TEST_F(ServerTest, ExpectGetsARefusalInstead) {
  auto client = this->client();
  const auto answer = client.ask(
      "POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: 4000\r\nExpect: 100-continue\r\n\r\n");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 413);
}

TEST_F(ServerTest, HeadHasNoBody) {
  auto client = this->client();
  client.send("HEAD /hello HTTP/1.1\r\nHost: test\r\n\r\n");
  const auto answer = client.answer(false);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->fields.at("content-length"), "5");
  EXPECT_EQ(client.ask(get("/hello"))->body, "hello");
}

TEST_F(ServerTest, NoContentHasNoLength) {
  auto client = this->client();
  client.send(get("/empty"));
  const auto answer = client.answer(false);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 204);
  EXPECT_EQ(answer->fields.count("content-length"), 0U);
  EXPECT_EQ(answer->fields.count("content-type"), 0U);
  EXPECT_EQ(client.ask(get("/query?a=%20b"))->body, "a=%20b");
}

TEST_F(ServerTest, AnOldClientIsClosedUnlessItAsks) {
  auto client = this->client();
  const auto kept =
      client.ask("GET /hello HTTP/1.0\r\nHost: test\r\nConnection: keep-alive\r\n\r\n");
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->fields.at("connection"), "keep-alive");
  const auto last = client.ask("GET /hello HTTP/1.0\r\nHost: test\r\n\r\n");
  ASSERT_TRUE(last);
  EXPECT_EQ(last->fields.at("connection"), "close");
  EXPECT_TRUE(client.is_closed());
}

TEST_F(ServerTest, AnotherThreadAnswers) {
  auto client = this->client();
  client.send(get("/late"));
  ASSERT_TRUE(support::eventually([&] { return application_.late() == 1; }));
  std::thread([&] { application_.answer_late("from elsewhere"); }).join();
  EXPECT_EQ(client.answer()->body, "from elsewhere");
}

TEST_F(ServerTest, AnAnswerToWhoHasGoneIsDropped) {
  auto client = this->client();
  client.send(get("/late"));
  ASSERT_TRUE(support::eventually([&] { return application_.late() == 1; }));
  client.close();
  application_.answer_late(std::string(1'000'000, 'x'));
  EXPECT_EQ(this->client().ask(get("/hello"))->status, 200);
}

TEST_F(ServerTest, ExceptionIsAServerError) {
  EXPECT_EQ(client().ask(get("/throws"))->status, 500);
  EXPECT_EQ(client().ask(get("/admit-throws"))->status, 500);
}

TEST_F(ServerTest, AFieldCannotSplitAnAnswer) {
  const auto answer = client().ask(get("/split"));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 500);
  EXPECT_EQ(answer->fields.count("set-cookie"), 0U);
}

TEST_F(ServerTest, ALargeAnswerReachesASlowReader) {
  auto client = this->client();
  const auto answer = client.ask(get("/large"));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->body.size(), 8U * 1024 * 1024);
}

TEST_F(ServerTest, ThePeerOfAUnixSocketHasAUid) {
  auto client = HttpClient::to_socket(server_.path());
  EXPECT_EQ(client.ask(get("/peer"))->body, " " + std::to_string(getuid()) + " plain");
}

TEST_F(ServerTest, ThePeerOfAPortHasAnAddress) {
  EXPECT_EQ(client().ask(get("/peer"))->body, "127.0.0.1 none plain");
}

TEST_F(ServerTest, PostedCallRunsInTheServersThread) {
  std::atomic<bool> done = false;
  server_.server().post([&] { done = true; });
  EXPECT_TRUE(support::eventually([&] { return done.load(); }));
}

TEST_F(ServerTest, AWatchedDescriptorIsReportedEachTime) {
  const UniqueFd event(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  std::atomic<std::uint64_t> sum = 0;
  server_.server().post([&] {
    server_.server().watch(event.get(), [&] {
      std::uint64_t value = 0;
      if (read(event.get(), &value, sizeof value) == sizeof value) sum += value;
    });
  });
  for (std::uint64_t turn = 1; turn <= 3; ++turn) {
    const std::uint64_t one = 1;
    ASSERT_EQ(write(event.get(), &one, sizeof one), static_cast<ssize_t>(sizeof one));
    ASSERT_TRUE(support::eventually([&] { return sum == turn; }));
  }
  // The test takes the descriptor back before it is closed.
  server_.server().stop(std::chrono::milliseconds(0));
  ASSERT_TRUE(support::eventually([&] { return server_.ended(); }));
}

// A client cannot distinguish the end of a connection from the loss of an answer.
TEST_F(ServerTest, AStopAnswersWhoHasJustConnected) {
  auto fresh = client();
  auto idle = client();  // accepted after the other one
  ASSERT_EQ(idle.ask(get("/hello"))->status, 200);
  server_.server().stop(std::chrono::seconds(10));
  EXPECT_TRUE(idle.is_closed());
  const auto answer = fresh.ask(get("/hello"));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->fields.at("connection"), "close");
  ASSERT_TRUE(support::eventually([&] { return server_.ended(); }));
}

// A listener may have its own application, which receives all its requests.
TEST(ServerPlaces, EachAnswersForItself) {
  TinyApplication usual;
  TinyApplication own;
  int usual_port = 0;
  int own_port = 0;
  std::vector<http::Listener> listeners;
  listeners.push_back(port_listener(usual_port));
  listeners.push_back(port_listener(own_port));
  listeners.back().application = &own;
  http::Server server(usual, {}, std::move(listeners), {});
  std::thread thread([&] { server.run(); });
  auto client = HttpClient::to_port(own_port);
  EXPECT_TRUE(client.ask(get("/hello")));
  EXPECT_TRUE(client.ask(get("/hello"))) << "and continues with it";
  EXPECT_TRUE(HttpClient::to_port(usual_port).ask(get("/hello")));
  EXPECT_EQ(own.answered(), 2);
  EXPECT_EQ(usual.answered(), 1);
  server.stop(std::chrono::seconds(5), true);
  thread.join();
  auto kept = server.kept();
  ASSERT_GE(kept.size(), 1U);

  std::vector<http::Listener> again;
  again.push_back(port_listener(usual_port));
  http::Server next(usual, {}, std::move(again), {});
  // The ended one may be among them, if the server did not see its end yet.
  for (UniqueFd& each : kept) next.adopt(std::move(each), &own);
  std::thread second([&] { next.run(); });
  EXPECT_TRUE(client.ask(get("/hello")));
  EXPECT_EQ(own.answered(), 3);
  next.stop(std::chrono::milliseconds(0));
  second.join();
}

}  // namespace
}  // namespace allot::test
