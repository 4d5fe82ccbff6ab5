// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

#include "db/connection.h"
#include "gateway/api/application.h"
#include "queue/model/catalog.h"
#include "support/database.h"
#include "support/eventually.h"

namespace allot::gateway::api {

using nlohmann::json;

// Answer to a request.
struct Answered {
  http::Response response;
  bool admitted = false;  // its body was read

  [[nodiscard]] unsigned status() const { return response.status; }
  [[nodiscard]] json document() const;
  [[nodiscard]] std::string field(std::string_view name) const;  // of the head; empty: none
  // For a problem; "" for other answers.
  [[nodiscard]] std::string kind() const { return problem("kind"); }
  [[nodiscard]] std::string named() const { return problem("field"); }
  [[nodiscard]] std::string detail() const { return problem("detail"); }

 private:
  [[nodiscard]] std::string problem(const char* name) const;
};

std::ostream& operator<<(std::ostream& out, const Answered& answered);

// A request as a client writes it.
struct Asked {
  std::string method;
  std::string target;  // including its query
  std::string body{};
  std::string type = "application/json";  // of the body; empty: none
  std::vector<http::Field> fields{};
  std::string token = "all";  // read by the test's Access
};

http::Head head_of(const Asked& asked);

// Calls an Application as the server does: admit(), then answer() if admitted.
Answered ask(Application& application, const Asked& asked);
// Does not wait for the answer.
std::future<Answered> begin(Application& application, const Asked& asked);

// Knows the callers "all" (every role for every queue), "reader", "submitter" and "operator" (one
// role each, for all), and "mail" (every role for the queue mail). All others are unknown.
access::Access::Verdict authorize(const http::Head& head);

// An application with an empty database and the queues mail (4 partitions), ordered and other.
class GatewayTest : public testing::Test {
 protected:
  explicit GatewayTest(support::Database& server = support::Database::shared(),
                       std::string database = {});

  [[nodiscard]] Service service() const;
  Answered get(const std::string& target, const std::string& token = "all");
  Answered post(const std::string& target, const std::string& body = {},
                const std::string& token = "all");
  Answered ask(const Asked& asked) { return api::ask(*application_, asked); }
  // Submits a task; returns its id.
  std::string put(const std::string& queue = "mail", const std::string& fields = {});

  std::string value(const std::string& sql) { return support::value_of(observer_, sql); }
  std::uint64_t number(const std::string& sql) { return support::number_of(observer_, sql); }
  queue::QueueInfo make_queue(const std::string& name, const queue::QueueShape& shape);

  support::Database& server_;
  std::string name_;
  db::Connection observer_;
  std::unique_ptr<Application> application_;
};

}  // namespace allot::gateway::api
