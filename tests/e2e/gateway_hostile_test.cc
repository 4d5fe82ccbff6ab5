// SPDX-License-Identifier: Apache-2.0
// Hostile clients, and a host without free resources, for the whole program. The gateway reports
// it, changes nothing, and continues when it can.
#include <gtest/gtest.h>

#include <csignal>
#include <exception>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "e2e/gateway.h"
#include "support/http_client.h"
#include "support/reserved_port.h"

namespace allot::e2e::gateway_hostile_test {
namespace {

using support::Answer;
using support::eventually;
using support::HttpClient;
using support::status_of;

const std::string kTask = R"({"queue":"default","type":"test.ok","payload":"x"})";
const std::string kAlive = get("/health/live");
const std::string kSmuggled = submission(kTask);

class GatewayHostile : public testing::Test {
 protected:
  // `limits`: a line of the shell before it executes the gateway.
  void start(const std::string& limits = ":", const std::string& keys = {}) {
    DaemonOptions options;
    options.start = false;
    options.more = gateway_section(keys);
    daemon_ = std::make_unique<Daemon>(options);
    socket_ = gateway_socket(*daemon_);
    gateway_ = std::make_unique<support::Process>(
        std::vector<std::string>{"sh", "-c", limits + "; exec \"$0\" --config \"$1\"",
                                 program("allot-gateway"), daemon_->config_file()});
    wait_listening(*daemon_, *gateway_);
  }
  [[nodiscard]] std::optional<Answer> asked(const std::string& bytes) const {
    return HttpClient::to_socket(socket_).ask(bytes);
  }
  void expect_well() {
    EXPECT_TRUE(gateway_->running()) << gateway_->err() << daemon_->log();
    EXPECT_TRUE(eventually([&] {
      try {
        return status_of(asked(submission(kTask))) == 201;
      } catch (const std::exception&) {
        return false;
      }
    })) << daemon_->log();
  }

  std::unique_ptr<Daemon> daemon_;
  std::unique_ptr<support::Process> gateway_;
  std::string socket_;
};

// Its database needs descriptors, too: an accepted client also gets this message if there is none
// for that.
TEST_F(GatewayHostile, WithoutDescriptorsItReportsThatAndContinues) {
#ifdef ALLOT_CHECKS_POINTERS
  GTEST_SKIP()
      << "UBSan looks at the type of an object through a pipe; without a descriptor for it "
         "the sanitizer itself ends the gateway. The tests of asan run this, which is without.";
#endif
  ASSERT_NO_FATAL_FAILURE(start("ulimit -Hn 48; ulimit -n 48"));
  std::vector<HttpClient> clients;
  int refused = 0;
  for (int i = 0; i < 60 && refused < 3; ++i) {
    clients.push_back(HttpClient::to_socket(socket_));
    const int status = status_of(clients.back().ask(kAlive));
    ASSERT_TRUE(status == 200 || status == 503) << status;
    if (status == 503) ++refused;
  }
  EXPECT_EQ(refused, 3);
  EXPECT_GT(clients.size(), 10U);
  const int status = status_of(clients.front().ask(submission(kTask)));
  EXPECT_EQ(status, 503) << "the database should lack a descriptor: " << daemon_->log();
  EXPECT_EQ(daemon_->count("task"), 0U);
  clients.clear();
  expect_well();
}

// Idle clients, with the maximum number of connections, do not exclude others.
TEST_F(GatewayHostile, ASilentCrowdBlocksNoClient) {
  const support::ReservedPort port;
  ASSERT_NO_FATAL_FAILURE(start(":", "max_connections = 20\nlisten = [\"127.0.0.1:" +
                                         std::to_string(port.number()) + "\"]\n"));
  std::vector<HttpClient> silent;
  for (int i = 0; i < 60; ++i) silent.push_back(HttpClient::to_port(port.number()));
  EXPECT_EQ(status_of(asked(kAlive)), 200);
  EXPECT_EQ(status_of(HttpClient::to_port(port.number()).ask(kAlive)), 200);
  EXPECT_EQ(status_of(HttpClient::to_port(port.number()).ask(get("/api/v1/queues"))), 401);
  expect_well();
}

// Each of them is in the middle of a request, so that none gives way.
TEST_F(GatewayHostile, BeyondTheLimitOfConnectionsItSaysSo) {
  ASSERT_NO_FATAL_FAILURE(start(":", "max_connections = 20\n"));
  const std::string unfinished = submission(kTask, "Expect: 100-continue\r\n");
  const std::string head = unfinished.substr(0, unfinished.size() - kTask.size());
  std::vector<HttpClient> clients;
  int refused = 0;
  for (int i = 0; i < 30; ++i) {
    clients.push_back(HttpClient::to_socket(socket_));
    clients.back().send(head);
    const auto answer = clients.back().head();
    ASSERT_TRUE(answer);
    if (answer->status != 503) continue;
    ++refused;
    EXPECT_EQ(answer->fields.count("retry-after"), 1U);
  }
  EXPECT_EQ(refused, 10);
  EXPECT_EQ(status_of(asked(kAlive)), 200);
  EXPECT_TRUE(daemon_->logged("gateway.connections_refused"));
  clients.clear();
  expect_well();
}

TEST_F(GatewayHostile, AFullDiskBelowItsLogStopsNothing) {
  ASSERT_NO_FATAL_FAILURE(start("ulimit -f 2"));  // KiB; file size limit, which raises SIGXFSZ
  for (int i = 0; i < 50; ++i) {
    // A wrong token is a line of the log.
    EXPECT_EQ(status_of(asked("GET /api/v1/queues HTTP/1.1\r\nHost: localhost\r\n"
                              "Authorization: Bearer allot_no\r\n\r\n")),
              401);
  }
  expect_well();
}

TEST_F(GatewayHostile, BodiesThatAreBuiltToHurtAreRefused) {
  ASSERT_NO_FATAL_FAILURE(start());
  const std::string start = R"({"queue":"default","type":"test.ok","payload":)";
  const auto nested = [&](std::size_t depth) {
    return start + std::string(depth, '[') + std::string(depth, ']') + "}";
  };
  EXPECT_EQ(status_of(asked(submission(nested(99)))), 201);
  EXPECT_EQ(status_of(asked(submission(nested(101)))), 400);
  EXPECT_EQ(status_of(asked(submission(nested(3'000'000)))), 400);
  EXPECT_EQ(status_of(asked(submission(std::string(5'000'000, '[')))), 400);
  EXPECT_EQ(status_of(asked(submission(std::string(1'000'000, '{')))), 400);
  EXPECT_EQ(status_of(asked(submission(kTask, "Content-Encoding: gzip\r\n"))), 415);
  EXPECT_EQ(status_of(asked("POST /api/v1/tasks HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
                            "application/json\r\nContent-Length: 999999999999\r\n\r\n")),
            413);
  EXPECT_EQ(daemon_->count("task"), 1U);
  expect_well();
}

struct SmugglingCase {
  std::string name;
  std::string head;  // after the request line and Host
};

// Each is followed by a whole submission, which must not be parsed as a request.
TEST_F(GatewayHostile, NothingIsSmuggledIn) {
  ASSERT_NO_FATAL_FAILURE(start());
  const std::string chunked = "Transfer-Encoding: chunked\r\n";
  const std::vector<SmugglingCase> cases{
      {"length and coding", "Content-Length: 5\r\n" + chunked + "\r\n0\r\n\r\n"},
      {"coding and length", chunked + "Content-Length: 5\r\n\r\n0\r\n\r\n"},
      {"two lengths", "Content-Length: 0\r\nContent-Length: 300\r\n\r\n"},
      {"a list of lengths", "Content-Length: 0, 0\r\n\r\n"},
      {"a signed length", "Content-Length: +0\r\n\r\n"},
      {"space before the colon", "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n"},
      {"another coding", "Transfer-Encoding: identity, chunked\r\n\r\n0\r\n\r\n"},
      {"a folded field", "X: a\r\n Content-Length: 300\r\n\r\n"},
      {"a bare LF", "X: a\nContent-Length: 300\r\n\r\n"},
      {"a bare CR", "X: a\rContent-Length: 300\r\n\r\n"},
      {"a second Host", "Host: other\r\n\r\n"},
      {"a chunk of another size", chunked + "\r\n1\r\nabc\r\n0\r\n\r\n"},
      {"a negative chunk", chunked + "\r\n-1\r\n\r\n0\r\n\r\n"},
      {"a huge chunk", chunked + "\r\nffffffffffffffff\r\na\r\n0\r\n\r\n"},
      {"a chunk with LF", chunked + "\r\n1\na\n0\n\n"},
      {"a trailer that is a length", chunked + "\r\n0\r\nContent-Length: 300\r\n\r\n"},
  };
  for (const SmugglingCase& each : cases) {
    auto client = HttpClient::to_socket(socket_);
    client.send(
        "POST /api/v1/tasks HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
        "application/json\r\n" +
        each.head + kSmuggled);
    client.shut_sending();
    const int status = status_of(client.answer());
    EXPECT_TRUE(status >= 400 && status < 600) << each.name << ": " << status;
    EXPECT_EQ(client.rest(), "") << each.name;
  }
  EXPECT_EQ(daemon_->count("task"), 0U);
  expect_well();
}

}  // namespace
}  // namespace allot::e2e::gateway_hostile_test
