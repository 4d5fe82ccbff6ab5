// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <fstream>
#include <future>
#include <nlohmann/json.hpp>
#include <optional>
#include <regex>
#include <string>
#include <thread>
#include <vector>

#include "gateway/fireworq/application.h"
#include "gateway/http/server.h"
#include "queue/fireworq/jobs.h"
#include "support/commit_stop.h"
#include "support/database.h"
#include "support/eventually.h"
#include "support/http_client.h"

// A server with Fireworq's API over a database, and its clients.
namespace allot::gateway::fireworq {
using nlohmann::json;
using support::Answer;
using support::HttpClient;

inline http::Listener listener_of(int& port) {
  http::Listener listener;
  listener.fd = UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  static_cast<void>(::bind(listener.fd.get(), reinterpret_cast<sockaddr*>(&address), size));
  ::listen(listener.fd.get(), 128);
  ::getsockname(listener.fd.get(), reinterpret_cast<sockaddr*>(&address), &size);
  port = ntohs(address.sin_port);
  return listener;
}

class FireworqTest : public testing::Test {
 protected:
  FireworqTest()
      : name_(support::emptied_database()),
        options_(support::Database::shared().options(name_)),
        observer_(connect()) {
    observer_.execute("ALTER TABLE fireworq_job AUTO_INCREMENT = 1");
    settings_.anonymous = true;
  }
  FireworqTest(const FireworqTest&) = delete;
  FireworqTest& operator=(const FireworqTest&) = delete;
  ~FireworqTest() override { stop(); }

  db::Connection connect() { return support::Database::shared().connect(name_); }
  static access::Access::Verdict reader(const access::Reach& reach) {
    return {access::Caller("reader", {reach, {}, {}}), 200, {}};
  }
  void start() {
    Service service;
    service.database = options_;
    service.settings = settings_;
    service.read_only = read_only_;
    service.plugins.sections["http"] = {{"allow", "http://target.example"},
                                        {"fireworq.user_agent", "Mine"}};
    application_ = std::make_unique<Application>(service, [](std::string_view token) {
      if (token == "reader") return reader(access::Reach{true, {}});
      if (token == "submits_q") {
        return access::Access::Verdict{
            access::Caller("submits_q", {access::Reach(), access::Reach{false, {"q"}}, {}}),
            200,
            {}};
      }
      if (token == "of_q") return reader(access::Reach{false, {"q"}});
      return access::Access::Verdict{std::nullopt, 401, "no such token"};
    });
    std::vector<http::Listener> listeners;
    listeners.push_back(listener_of(port_));
    server_ = std::make_unique<http::Server>(*application_, http::Limits(), std::move(listeners),
                                             http::Tls());
    thread_ = std::thread([this] { server_->run(); });
  }
  void stop() {
    if (!server_) return;
    server_->stop(std::chrono::seconds(5));
    thread_.join();
    server_.reset();
    application_.reset();
  }

  Answer asked(const std::string& bytes) {
    if (!server_) start();
    auto answer = HttpClient::to_port(port_).ask(bytes);
    return answer ? std::move(*answer) : Answer{};
  }
  Answer send(const std::string& what, const std::string& body = {},
              const std::string& fields = {}) {
    return asked(what + " HTTP/1.1\r\nHost: localhost\r\n" + fields +
                 (body.empty() ? "" : "Content-Length: " + std::to_string(body.size()) + "\r\n") +
                 "\r\n" + body);
  }
  json got(const std::string& what, const std::string& body = {}) {
    const Answer answer = send(what, body);
    EXPECT_EQ(answer.status, 200) << what << "\n" << answer.body;
    return json::parse(answer.body, nullptr, false);
  }
  // "404 Not Found|the detail".
  std::string error(const std::string& what, const std::string& body = {}) {
    const Answer answer = send(what, body);
    std::string text = answer.body;
    EXPECT_TRUE(text.ends_with('\n')) << what;
    if (text.ends_with('\n')) text.pop_back();
    const std::size_t empty = text.find("\n\n");
    EXPECT_TRUE(text.starts_with(std::to_string(answer.status) + " ")) << what << "\n" << text;
    if (empty != std::string::npos) text.replace(empty, 2, "|");
    return text;
  }
  std::uint64_t push(const std::string& category = "c", const std::string& more = {}) {
    return got("POST /job/" + category, R"({"url":"http://target.example/")" + more + "}")
        .value("id", std::uint64_t{0});
  }
  // The default: queue q, with a routing of the category c.
  void set_up(const std::string& queue = R"({"max_workers":1})") {
    got("PUT /queue/q", queue);
    got("PUT /routing/c", R"({"queue_name":"q"})");
  }
  // Buries the job as a worker would.
  void bury(std::uint64_t id, const std::string& said) {
    const std::string where =
        " WHERE (queue_id, partition_no, prio, run_key) = (SELECT queue_id, partition_no, prio, "
        "first_key FROM fireworq_job WHERE job_id = " +
        std::to_string(id) + ")";
    observer_.execute(
        "INSERT INTO task_dead (queue_id, partition_no, prio, first_key, attempt, type, payload, "
        "headers, cause, error, died_at) SELECT queue_id, partition_no, prio, run_key, 1, type, "
        "payload, 'max_attempts=4\\nmax_losses=3\\nverdicts=1\\n', 'failed', '" +
        said + "', UTC_TIMESTAMP(6) FROM task" + where);
    observer_.execute("DELETE FROM task" + where);
  }
  std::string value(const std::string& sql) { return support::value_of(observer_, sql); }

  config::GatewayFireworq settings_;
  bool read_only_ = false;
  std::string name_;
  db::ConnectOptions options_;
  db::Connection observer_;
  std::unique_ptr<Application> application_;
  std::unique_ptr<http::Server> server_;
  std::thread thread_;
  int port_ = 0;
};

}  // namespace allot::gateway::fireworq
