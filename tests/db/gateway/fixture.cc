// SPDX-License-Identifier: Apache-2.0
#include "db/gateway/fixture.h"

#include <future>
#include <ostream>

namespace allot::gateway::api {

json Answered::document() const {
  return json::parse(response.body, nullptr, false);
}

std::string Answered::field(std::string_view name) const {
  for (const http::Field& each : response.fields) {
    if (each.name == name) return each.value;
  }
  return {};
}

std::string Answered::problem(const char* name) const {
  if (response.type != "application/problem+json") return {};
  return document().value(name, "");
}

std::ostream& operator<<(std::ostream& out, const Answered& answered) {
  return out << answered.status() << " " << answered.response.type << " " << answered.response.body;
}

http::Head head_of(const Asked& asked) {
  http::Head head;
  head.method = asked.method;
  const std::size_t mark = asked.target.find('?');
  head.path = asked.target.substr(0, mark);
  if (mark != std::string::npos) head.query = asked.target.substr(mark + 1);
  head.fields = asked.fields;
  head.fields.push_back({"host", "localhost"});
  if (!asked.token.empty()) head.fields.push_back({"authorization", "Bearer " + asked.token});
  if (!asked.body.empty()) {
    head.fields.push_back({"content-length", std::to_string(asked.body.size())});
    if (!asked.type.empty()) head.fields.push_back({"content-type", asked.type});
  }
  return head;
}

std::future<Answered> begin(Application& application, const Asked& asked) {
  const auto answer = std::make_shared<std::promise<Answered>>();
  http::Request request{head_of(asked), asked.body};
  http::Admission admission = application.admit(request.head);
  if (admission.refusal) {
    answer->set_value({std::move(*admission.refusal), false});
  } else if (asked.body.size() > admission.most_body) {
    answer->set_value({application.refuse(413, "the body is too large"), false});
  } else {
    admission.answer(std::move(request), [answer](http::Response response) {
      answer->set_value({std::move(response), true});
    });
  }
  return answer->get_future();
}

Answered ask(Application& application, const Asked& asked) {
  return begin(application, asked).get();
}

access::Access::Verdict authorize(const http::Head& head) {
  using access::Reach;
  const std::string* field = head.field("authorization");
  const std::string token = field == nullptr ? "" : field->substr(std::string("Bearer ").size());
  const Reach all{true, {}};
  const Reach mail{false, {"mail"}};
  const Reach none;
  std::optional<access::Caller> caller;
  if (token == "all") caller.emplace(token, std::array<Reach, access::kRoles>{all, all, all});
  if (token == "mail") caller.emplace(token, std::array<Reach, access::kRoles>{mail, mail, mail});
  if (token == "reader") caller.emplace(token, std::array<Reach, access::kRoles>{all, none, none});
  if (token == "submitter")
    caller.emplace(token, std::array<Reach, access::kRoles>{none, all, none});
  if (token == "operator")
    caller.emplace(token, std::array<Reach, access::kRoles>{none, none, all});
  if (!caller) return {std::nullopt, 401, "unknown token"};
  return {std::move(caller), 200, {}};
}

GatewayTest::GatewayTest(support::Database& server, std::string database)
    : server_(server),
      name_(database.empty() ? support::emptied_database() : std::move(database)),
      observer_(server.connect(name_)) {
  make_queue("mail", {4, queue::Placement::kSpread, 1});
  make_queue("other", {1, queue::Placement::kSpread, 1});
  make_queue("ordered", {2, queue::Placement::kOrdered, 1});
  application_ = std::make_unique<Application>(service(), authorize);
}

Service GatewayTest::service() const {
  Service service;
  service.database = server_.options(name_);
  service.threads = 4;
  service.snapshot_for = service.share_for = 0;  // each answer of a test shows the current state
  service.calendar = {ALLOT_GATEWAY_PROGRAM, "--calendar"};
  return service;
}

queue::QueueInfo GatewayTest::make_queue(const std::string& name, const queue::QueueShape& shape) {
  return queue::ensure_queue(observer_, name, shape);
}

Answered GatewayTest::get(const std::string& target, const std::string& token) {
  Asked asked{"GET", target};
  asked.token = token;
  return ask(asked);
}

Answered GatewayTest::post(const std::string& target, const std::string& body,
                           const std::string& token) {
  Asked asked{"POST", target, body};
  asked.token = token;
  return ask(asked);
}

std::string GatewayTest::put(const std::string& queue, const std::string& fields) {
  const Answered made =
      post("/api/v1/tasks", R"({"queue":")" + queue + R"(","type":"t")" + fields + "}");
  EXPECT_EQ(made.status(), 201U) << made;
  return made.document().value("id", "");
}

}  // namespace allot::gateway::api
