// SPDX-License-Identifier: Apache-2.0
// Rule: S62.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "support/eventually.h"
#include "support/http_client.h"
#include "unit/gateway/tiny_application.h"

namespace allot::test {
namespace {

const std::string kStream =
    "POST /lines HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n";

std::string chunk_of_text(const std::string& text) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string size;
  for (std::size_t left = text.size(); left > 0; left /= 16) size.insert(0, 1, kDigits[left % 16]);
  return (size.empty() ? "0" : size) + "\r\n" + text + "\r\n";
}

class StreamTest : public testing::Test {
 protected:
  HttpClient client() { return HttpClient::to_port(server_.port()); }
  bool batches_are(std::size_t count) {
    return support::eventually([&] { return application_.batches().size() == count; });
  }

  TinyApplication application_;
  RunningServer server_{application_};
};

TEST_F(StreamTest, ABatchIsAnsweredBeforeTheBodyEnds) {
  auto client = this->client();
  client.send(kStream + chunk_of_text("one\ntwo\nthr"));
  const auto head = client.head();
  ASSERT_TRUE(head);
  EXPECT_EQ(head->status, 200);
  EXPECT_EQ(head->fields.at("content-type"), "application/x-ndjson");
  EXPECT_EQ(client.chunk(), "took 8\n");
  client.send(chunk_of_text("ee\nfour") + chunk_of_text(""));
  EXPECT_EQ(client.chunk(), "took 10\n");
  EXPECT_EQ(client.chunk(), "");
  EXPECT_EQ(application_.batches(), (std::vector<std::string>{"one\ntwo\n", "three\nfour"}));
  EXPECT_EQ(client.ask(get("/hello"))->body, "hello") << "the connection stays usable";
}

TEST_F(StreamTest, ACountedBodyIsAStreamToo) {
  auto client = this->client();
  const auto answer = client.ask(post("/lines", "one\ntwo\n"));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->body, "took 8\n");
}

TEST_F(StreamTest, AnEmptyBodyIsOneLastBatch) {
  auto client = this->client();
  EXPECT_EQ(client.ask(post("/lines", ""))->body, "took 0\n");
  EXPECT_EQ(application_.batches(), std::vector<std::string>{""});
}

TEST_F(StreamTest, AnOldClientReadsToTheEnd) {
  auto client = this->client();
  client.send("POST /lines HTTP/1.0\r\nHost: test\r\nContent-Length: 4\r\n\r\none\n");
  const auto head = client.head();
  ASSERT_TRUE(head);
  EXPECT_EQ(head->fields.count("transfer-encoding"), 0U);
  EXPECT_EQ(client.rest(), "took 4\n");
}

// Data received in between waits: first here, then in the kernel, then at the peer.
TEST_F(StreamTest, TheNextBatchWaitsForTheAnswerToTheFormer) {
  application_.hold(true);
  auto client = this->client();
  client.send(kStream + chunk_of_text("one\n"));
  ASSERT_TRUE(batches_are(1));
  const std::string line = chunk_of_text(std::string(999, 'x') + "\n");
  std::size_t sent = 0;
  const auto is_full = [&] {
    pollfd writable{client.fd(), POLLOUT, 0};
    return poll(&writable, 1, 200) == 0;
  };
  for (; sent < 64'000 && !is_full(); sent += 32) {
    for (int count = 0; count < 32; ++count) client.send(line);
  }
  EXPECT_LT(sent, 64'000U) << "64 MB were taken in though nothing was answered";
  EXPECT_EQ(application_.batches().size(), 1U);

  application_.hold(false);
  application_.answer_batch("go on\n");
  client.send(chunk_of_text(""));
  const auto answer = client.answer();
  ASSERT_TRUE(answer);
  std::size_t bytes = 0;
  std::size_t largest = 0;
  for (const auto& batch : application_.batches()) {
    bytes += batch.size();
    largest = std::max(largest, batch.size());
  }
  EXPECT_EQ(bytes, 4 + sent * 1'000);
  EXPECT_LT(largest, std::size_t{2} << 20);
}

TEST_F(StreamTest, NextBatchWaitsUntilTheLineIsSent) {
  application_.hold(true);
  auto client = this->client();
  client.send(kStream + chunk_of_text("one\ntwo\n") + chunk_of_text(""));
  ASSERT_TRUE(batches_are(1));
  application_.answer_batch("first\n", http::LineStream::Then::kRest);
  ASSERT_TRUE(client.head());
  EXPECT_EQ(client.chunk(), "first\n");
  ASSERT_TRUE(batches_are(2));
  application_.answer_batch("second\n", http::LineStream::Then::kRest);
  EXPECT_EQ(client.chunk(), "second\n");
  ASSERT_TRUE(batches_are(3));
  application_.answer_batch("all\n", http::LineStream::Then::kEnd);
  EXPECT_EQ(client.chunk(), "all\n");
  EXPECT_EQ(client.chunk(), "");
  EXPECT_EQ(application_.batches(), (std::vector<std::string>{"one\ntwo\n", "", ""}));
}

TEST_F(StreamTest, NoBatchAfterThePeerHasGone) {
  application_.hold(true);
  auto client = this->client();
  client.send(kStream + chunk_of_text("one\ntwo\n"));
  ASSERT_TRUE(batches_are(1));
  const linger reset{1, 0};
  ASSERT_EQ(setsockopt(client.fd(), SOL_SOCKET, SO_LINGER, &reset, sizeof reset), 0);
  client.close();
  application_.answer_batch("first\n", http::LineStream::Then::kRest);
  EXPECT_EQ(this->client().ask(get("/hello"))->status, 200);
  EXPECT_EQ(application_.batches().size(), 1U);
}

TEST_F(StreamTest, AStopEndsItWhereLinesAreLeft) {
  application_.hold(true);
  auto client = this->client();
  client.send(kStream + chunk_of_text("one\ntwo\n"));
  ASSERT_TRUE(batches_are(1));
  server_.server().stop(std::chrono::seconds(20));
  application_.answer_batch("in\n", http::LineStream::Then::kRest);
  const auto answer = client.answer();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->body, "in\nstopped: the gateway stops\n");
}

TEST_F(StreamTest, TheApplicationMayEndIt) {
  application_.hold(true);
  auto client = this->client();
  client.send(kStream + chunk_of_text("one\n"));
  ASSERT_TRUE(batches_are(1));
  application_.answer_batch("no more\n", http::LineStream::Then::kEnd);
  const auto answer = client.answer();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->body, "no more\n");
  client.shut_sending();
  EXPECT_TRUE(client.is_closed());
}

TEST_F(StreamTest, ATooLongLineIsRefused) {
  auto client = this->client();
  const auto answer = client.ask(kStream + chunk_of_text(std::string(1'001, 'x')));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 413);
  EXPECT_TRUE(application_.batches().empty());
}

// A started answer can only be aborted: without its last chunk it is incomplete.
TEST_F(StreamTest, ABrokenChunkBreaksTheAnswerOff) {
  auto client = this->client();
  client.send(kStream + chunk_of_text("one\n"));
  ASSERT_TRUE(client.head());
  ASSERT_EQ(client.chunk(), "took 4\n");
  client.send("xyz\r\n");
  EXPECT_TRUE(client.is_closed());
  EXPECT_EQ(application_.batches().size(), 1U);
}

TEST_F(StreamTest, AStreamWhoseClientHasGoneLivesUntilItsBatchIsAnswered) {
  application_.hold(true);
  auto client = this->client();
  client.send(kStream + chunk_of_text("one\n"));
  ASSERT_TRUE(batches_are(1));
  client.close();
  application_.answer_batch("too late\n");
  EXPECT_EQ(this->client().ask(get("/hello"))->status, 200);
}

TEST_F(StreamTest, AStopEndsItAtABatch) {
  auto client = this->client();
  client.send(kStream + chunk_of_text("one\n"));
  ASSERT_TRUE(client.head());
  ASSERT_EQ(client.chunk(), "took 4\n");
  server_.server().stop(std::chrono::seconds(20));
  EXPECT_EQ(client.chunk(), "stopped: the gateway stops\n");
  EXPECT_EQ(client.chunk(), "");
  client.close();
  EXPECT_TRUE(support::eventually([&] { return server_.ended(); }));
}

TEST_F(StreamTest, AStopWaitsForTheBatchInHand) {
  application_.hold(true);
  auto client = this->client();
  client.send(kStream + chunk_of_text("one\n"));
  ASSERT_TRUE(batches_are(1));
  server_.server().stop(std::chrono::seconds(20));
  application_.answer_batch("in\n");
  const auto answer = client.answer();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->body, "in\nstopped: the gateway stops\n");
}

}  // namespace
}  // namespace allot::test
