// SPDX-License-Identifier: Apache-2.0
// All bodies in a server share one budget.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gateway/http/body_budget.h"
#include "support/eventually.h"
#include "support/http_client.h"
#include "unit/gateway/tiny_application.h"

namespace allot::test {
namespace {

using http::BodyBudget;
using http::BodyHold;

constexpr std::size_t kKiB = 1'024;

class BodyTest : public testing::Test {
 protected:
  explicit BodyTest(std::size_t budget = 1'024 * kKiB) {
    limits_.body_bytes = budget;
    application_.take_bodies(100'000 * kKiB);
    server_.emplace(application_, limits_);
  }
  HttpClient client() { return HttpClient::to_port(server_->port()); }
  static std::string head(std::size_t length, const std::string& path = "/late") {
    return "POST " + path + " HTTP/1.1\r\nHost: test\r\nContent-Length: " + std::to_string(length) +
           "\r\n\r\n";
  }
  // A body that was read but not answered yet.
  HttpClient holding(std::size_t bytes) {
    const std::size_t before = application_.late();
    auto client = this->client();
    client.send(head(bytes) + std::string(bytes, 'x'));
    EXPECT_TRUE(support::eventually([&] { return application_.late() == before + 1; }));
    return client;
  }
  int status_of(std::size_t bytes, const std::string& path = "/echo") {
    return support::status_of(client().ask(head(bytes, path) + std::string(bytes, 'x')));
  }

  TinyApplication application_;
  http::Limits limits_{};
  std::optional<RunningServer> server_;
};

TEST_F(BodyTest, BodyThatDoesNotFitIsRefusedAndFitsLater) {
  auto first = holding(600 * kKiB);
  auto client = this->client();
  const auto answer = client.ask(head(200 * kKiB, "/echo"));
  ASSERT_TRUE(answer) << "it is refused before the body is sent";
  EXPECT_EQ(answer->status, 503);
  EXPECT_EQ(answer->fields.at("retry-after"), "1");
  application_.answer_late("done");
  ASSERT_EQ(support::status_of(first.answer()), 200);
  EXPECT_TRUE(support::eventually([&] { return status_of(200 * kKiB) == 200; }));
}

TEST_F(BodyTest, SmallOnesFitNextToLargeOnes) {
  const auto first = holding(700 * kKiB);
  EXPECT_EQ(status_of(200 * kKiB), 503);
  EXPECT_EQ(status_of(60 * kKiB), 200);
}

TEST_F(BodyTest, OversizedBodyIsTooLarge) {
  EXPECT_EQ(status_of(704 * kKiB), 200) << "three quarters, less one read";
  EXPECT_EQ(support::status_of(client().ask(head(704 * kKiB + 1))), 413);
}

// The announced length does not count, only the received bytes.
TEST_F(BodyTest, AnnouncedBytesAreNotCounted) {
  std::vector<HttpClient> silent;
  for (int count = 0; count < 20; ++count) {
    silent.push_back(client());
    silent.back().send(head(700 * kKiB));
  }
  EXPECT_EQ(status_of(600 * kKiB), 200);
}

TEST_F(BodyTest, ABodyInChunksIsRefusedWhereTheRoomEnds) {
  const auto first = holding(600 * kKiB);
  auto client = this->client();
  client.send("POST /echo HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n80000\r\n");
  client.send(std::string(0x40000, 'x'));
  EXPECT_EQ(support::status_of(client.answer()), 503);
}

// Refused bodies release their space to the others at once.
TEST_F(BodyTest, SomeOfManyGrowingBodiesFinish) {
  constexpr int kClients = 12;
  constexpr int kPieces = 30;
  std::vector<HttpClient> clients;
  for (int count = 0; count < kClients; ++count) {
    clients.push_back(client());
    clients.back().send("POST /echo HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n");
  }
  const std::string piece = "2800\r\n" + std::string(0x2800, 'x') + "\r\n";
  for (int count = 0; count < kPieces; ++count) {
    for (HttpClient& each : clients) each.send(piece);
  }
  int whole = 0;
  for (HttpClient& each : clients) {
    each.send("0\r\n\r\n");
    const int status = support::status_of(each.answer());
    EXPECT_TRUE(status == 200 || status == 503) << status;
    if (status == 200) ++whole;
  }
  EXPECT_GE(whole, 1);
}

// It stays although its client is gone: the application still has it.
TEST_F(BodyTest, ABodyCountsUntilItIsAnswered) {
  auto first = holding(600 * kKiB);
  first.close();
  EXPECT_EQ(status_of(200 * kKiB), 503);
  application_.answer_late("too late");
  EXPECT_TRUE(support::eventually([&] { return status_of(200 * kKiB) == 200; }));
}

TEST_F(BodyTest, AnonymousCallersHaveAnEighth) {
  EXPECT_EQ(status_of(64 * kKiB, "/anybody"), 200);
  EXPECT_EQ(support::status_of(client().ask(head(64 * kKiB + 1, "/anybody"))), 413);
}

TEST_F(BodyTest, AStreamWithoutRoomSaysWhereToGoOn) {
  const auto first = holding(600 * kKiB);
  application_.keep(200 * kKiB);
  auto client = this->client();
  client.send(
      "POST /lines HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n4\r\none\n\r\n");
  ASSERT_TRUE(client.head());
  EXPECT_EQ(client.chunk(), "took 4\n");
  const std::string stopped = client.chunk().value_or("");
  EXPECT_EQ(stopped.rfind("stopped: the memory for request bodies is used up", 0), 0U) << stopped;
}

// Ten times the budget passes through it, piece by piece.
TEST_F(BodyTest, AStreamHoldsItsPieceOnly) {
  auto client = this->client();
  client.send("POST /lines HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n");
  const std::string line = std::string(0x7fff, 'x') + "\n";
  std::size_t taken = 0;
  client.send("8000\r\n" + line + "\r\n");
  ASSERT_TRUE(client.head());
  for (int count = 1; count < 320; ++count) client.send("8000\r\n" + line + "\r\n");
  client.send("0\r\n\r\n");
  for (auto chunk = client.chunk(); chunk && !chunk->empty(); chunk = client.chunk()) {
    ASSERT_EQ(chunk->rfind("took ", 0), 0U) << *chunk;
    for (std::size_t at = 0; at < chunk->size(); at = chunk->find('\n', at) + 1) {
      taken += std::stoul(chunk->substr(at + 5));
    }
  }
  EXPECT_EQ(taken, 320U * 0x8000U);
}

TEST(BodyBudgetTest, AQuarterIsForTheSmallOnes) {
  const auto budget = std::make_shared<BodyBudget>(1'024 * kKiB);
  BodyHold large(budget, false);
  EXPECT_TRUE(large.resize(768 * kKiB));
  EXPECT_FALSE(large.resize(768 * kKiB + 1));
  EXPECT_EQ(large.bytes(), 768 * kKiB) << "it holds what it held";
  std::vector<std::unique_ptr<BodyHold>> small;
  for (int count = 0; count < 4; ++count) {
    small.push_back(std::make_unique<BodyHold>(budget, false));
    EXPECT_TRUE(small.back()->resize(BodyBudget::kSmall));
  }
  EXPECT_FALSE(BodyHold(budget, false).resize(1));
  EXPECT_TRUE(large.resize(100 * kKiB)) << "to hold less always goes";
  small.clear();
  EXPECT_EQ(budget->held(), 100 * kKiB);
}

TEST(BodyBudgetTest, AnonymousCallersShareAnEighth) {
  const auto budget = std::make_shared<BodyBudget>(1'024 * kKiB);
  BodyHold first(budget, true);
  EXPECT_TRUE(first.resize(100 * kKiB));
  BodyHold second(budget, true);
  EXPECT_FALSE(second.resize(29 * kKiB));
  EXPECT_TRUE(second.resize(28 * kKiB));
  EXPECT_TRUE(BodyHold(budget, false).resize(600 * kKiB)) << "the others have the rest";
}

}  // namespace
}  // namespace allot::test
