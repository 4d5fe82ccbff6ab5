// SPDX-License-Identifier: Apache-2.0
// More connections than a server accepts: idle ones make room, active ones are not touched.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gateway/http/connections.h"
#include "support/eventually.h"
#include "support/http_client.h"
#include "unit/gateway/tiny_application.h"

namespace allot::test {
namespace {

using http::Connections;
using http::Kind;

class Crowd : public testing::Test {
 protected:
  void start(std::size_t connections, std::size_t of_peer) {
    limits_.connections = connections;
    limits_.connections_of_peer = of_peer;
    server_.emplace(application_, limits_);
  }
  HttpClient client() { return HttpClient::to_port(server_->port()); }
  HttpClient local() { return HttpClient::to_socket(server_->path()); }
  // A request that is not answered until the test ends.
  HttpClient working(HttpClient client) {
    const std::size_t before = application_.late();
    client.send(get("/late"));
    EXPECT_TRUE(support::eventually([&] { return application_.late() == before + 1; }));
    return client;
  }
  HttpClient working() { return working(client()); }
  static int status_of(HttpClient client, const std::string& path = "/hello") {
    return support::status_of(client.ask(get(path)));
  }

  TinyApplication application_;
  http::Limits limits_{};
  std::optional<RunningServer> server_;
};

TEST_F(Crowd, TheOneThatHasWaitedTheLongestMakesWay) {
  start(2, 0);
  auto first = client();
  auto second = client();
  ASSERT_EQ(first.ask(get("/hello"))->status, 200);
  ASSERT_EQ(second.ask(get("/hello"))->status, 200);
  ASSERT_EQ(first.ask(get("/hello"))->status, 200);
  EXPECT_EQ(status_of(client()), 200);
  EXPECT_TRUE(second.is_closed());
  EXPECT_EQ(support::status_of(first.ask(get("/hello"))), 200);
}

TEST_F(Crowd, OneThatHasSentNothingYetMakesWay) {
  start(2, 0);
  auto silent = client();
  auto dripping = client();
  dripping.send("GET /hello HT");
  EXPECT_EQ(status_of(client()), 200);
  EXPECT_TRUE(silent.is_closed());
  EXPECT_EQ(status_of(client()), 200);
}

TEST_F(Crowd, TheNextConnectionIsRefusedWhenAllWork) {
  start(2, 0);
  auto first = working();
  auto second = working();
  auto third = client();
  const auto answer = third.ask(get("/hello"));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 503);
  EXPECT_EQ(answer->fields.at("retry-after"), "1");
  EXPECT_TRUE(third.is_closed());
  application_.answer_late("done");
  EXPECT_EQ(support::status_of(first.answer()), 200);
  EXPECT_TRUE(support::eventually([&] { return status_of(client()) == 200; }));
}

TEST_F(Crowd, TheHealthIsAnsweredAllTheSame) {
  start(1, 0);
  const auto busy = working();
  auto asking = client();
  EXPECT_EQ(support::status_of(asking.ask(get("/health"))), 200);
  EXPECT_TRUE(asking.is_closed()) << "it is a guest, for one request";
  EXPECT_EQ(status_of(client()), 503);
}

TEST_F(Crowd, SilentGuestsDoNotKeepTheHealthFromBeingAnswered) {
  start(1, 0);
  const auto busy = working();
  std::vector<HttpClient> silent;
  for (int count = 0; count < 100; ++count) silent.push_back(client());
  EXPECT_EQ(status_of(client(), "/health"), 200);
}

TEST_F(Crowd, AnAddressAtItsLimitEndsItsOwn) {
  start(100, 2);
  auto other = local();
  ASSERT_EQ(other.ask(get("/hello"))->status, 200);
  auto first = client();
  auto second = client();
  ASSERT_EQ(first.ask(get("/hello"))->status, 200);
  ASSERT_EQ(second.ask(get("/hello"))->status, 200);
  EXPECT_EQ(status_of(client()), 200);
  EXPECT_TRUE(first.is_closed());
  EXPECT_EQ(support::status_of(other.ask(get("/hello"))), 200);
}

TEST_F(Crowd, AnAddressWithBusyConnectionsIsRefusedAndOthersAreServed) {
  start(100, 1);
  const auto busy = working();
  EXPECT_EQ(status_of(client()), 503);
  EXPECT_EQ(status_of(local()), 200);
  EXPECT_EQ(status_of(client(), "/health"), 200);
}

TEST_F(Crowd, AnAddressThatSpeaksForManyHasNoLimitOfItsOwn) {
  limits_.speaks_for_many = [](const std::string& address) { return address == "127.0.0.1"; };
  start(100, 1);
  const auto busy = working();
  auto second = client();
  EXPECT_EQ(support::status_of(second.ask(get("/hello"))), 200);
  EXPECT_EQ(status_of(client()), 200);
  EXPECT_EQ(support::status_of(second.ask(get("/hello"))), 200);
}

TEST_F(Crowd, TheUnixSocketHasPlacesOfItsOwn) {
  start(16, 0);
  std::vector<HttpClient> busy;
  for (int count = 0; count < 14; ++count) busy.push_back(working());
  EXPECT_EQ(status_of(client()), 503);
  auto first = working(local());
  auto second = working(local());
  EXPECT_EQ(status_of(local()), 503);
}

TEST_F(Crowd, OneOverTcpEndsNoneOfTheUnixSocket) {
  start(2, 0);
  auto over_socket = local();
  ASSERT_EQ(over_socket.ask(get("/hello"))->status, 200);
  const auto busy = working();
  EXPECT_EQ(status_of(client()), 503);
  EXPECT_EQ(support::status_of(over_socket.ask(get("/hello"))), 200);
}

TEST_F(Crowd, OneOfTheUnixSocketEndsOneOverTcpFirst) {
  start(2, 0);
  auto over_socket = local();
  ASSERT_EQ(over_socket.ask(get("/hello"))->status, 200);
  auto over_tcp = client();
  ASSERT_EQ(over_tcp.ask(get("/hello"))->status, 200);
  EXPECT_EQ(status_of(local()), 200);
  EXPECT_TRUE(over_tcp.is_closed());
  EXPECT_EQ(support::status_of(over_socket.ask(get("/hello"))), 200);
}

class Numbered : public http::Connection {
 public:
  [[nodiscard]] http::Clock::time_point deadline() const override { return {}; }
  void expire() override {}
  void leave() override {}
  void cut() override { is_cut = true; }
  bool is_cut = false;
};

TEST(CrowdCounts, OneThatMadeWayCountsNoMoreAndIsThereUntilItIsGone) {
  Connections all;
  const auto first = std::make_shared<Numbered>();
  const auto place = all.add(first, {Kind::kNetwork, "192.0.2.7"});
  EXPECT_TRUE(all.make_way_in("192.0.2.7"));
  EXPECT_TRUE(first->is_cut);
  EXPECT_EQ(all.of(Kind::kNetwork), 0U);
  EXPECT_EQ(all.of_group("192.0.2.7"), 0U);
  EXPECT_EQ(all.size(), 1U);
  all.waits(place);
  EXPECT_FALSE(all.make_way(Kind::kNetwork)) << "it is ended once";
  all.remove(place);
  EXPECT_EQ(all.size(), 0U);
}

TEST(CrowdCounts, OneThatWorksIsNotAskedToMakeWay) {
  Connections all;
  const auto place = all.add(std::make_shared<Numbered>(), {Kind::kLocal});
  all.works(place);
  EXPECT_FALSE(all.make_way(Kind::kLocal));
  all.waits(place);
  EXPECT_TRUE(all.make_way(Kind::kLocal));
}

}  // namespace
}  // namespace allot::test
