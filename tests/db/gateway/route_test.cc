// SPDX-License-Identifier: Apache-2.0
// Every row of the route table: hidden resources and refusals. Its answers are in answers_test.cc.
#include <map>

#include "db/gateway/examples.h"
#include "queue/schedules/schedule_store.h"

namespace allot::gateway::api {
namespace {

using RouteTest = ExamplesTest;

TEST_F(RouteTest, QueuesOfOthersAre404) {
  const std::string id = put("other");
  const std::map<std::string, std::string> names{{"id", id},
                                                 {"queue", "other"},
                                                 {"unique_key", "k"},
                                                 {"schedule", "far"},
                                                 {"action", begin_bulk("other")}};
  queue::ScheduleSpec spec;
  spec.name = "far";
  spec.expression = "0 3 * * *";
  spec.queue = "other";
  spec.type = "t";
  queue::put_schedule(observer_, spec, std::nullopt);
  const std::string before = value("SELECT COUNT(*) FROM task");
  for (const Route& route : routes()) {
    const bool of_a_queue = path_of(route, names) != route.path;
    if (!of_a_queue || route.everywhere) continue;
    Asked asked = example_of(route, names);
    asked.token = "mail";
    expect_problem(ask(asked), 404, text_of(route));
  }
  EXPECT_EQ(value("SELECT COUNT(*) FROM task"), before);
  EXPECT_TRUE(get("/api/v1/queues/other").document()["paused"].is_null());
}

TEST_F(RouteTest, UnknownWordsAreRefused) {
  for (const Route& route : routes()) {
    if (route.body == Body::kTasks) continue;
    const auto names = names_for(route);
    Asked query = example_of(route, names);
    query.target += (query.target.find('?') == std::string::npos ? "?" : "&") + std::string("x=1");
    const Answered refused = ask(query);
    expect_problem(refused, 400, text_of(route));
    EXPECT_EQ(refused.named(), "x") << text_of(route);
    if (route.body != Body::kOptions) continue;
    Asked body = example_of(route, names);
    body.body = R"({"x":1})";
    const Answered wrong = ask(body);
    expect_problem(wrong, 400, text_of(route));
    EXPECT_EQ(wrong.named(), "x") << text_of(route);
    for (const char* text : {"{", "[]", "7", "\xff"}) {
      body.body = text;
      expect_problem(ask(body), 400, text_of(route) + " " + text);
    }
    body.body = "{\"reason\":" + std::string(10'000, '[');
    expect_problem(ask(body), 400, text_of(route));
    body.body = "{}";
    body.type = "text/plain";
    expect_problem(ask(body), 415, text_of(route));
    body.body = std::string(200'000, ' ');
    body.type = "application/json";
    expect_problem(ask(body), 413, text_of(route));
  }
}

TEST_F(RouteTest, AReadOnlyGatewayHasNoRouteThatWrites) {
  Service settings = service();
  settings.read_only = true;
  Application reading(settings, authorize);
  for (const Route& route : routes()) {
    const Asked asked = example_of(route, {{"id", "x"}, {"queue", "mail"}, {"schedule", "s"}});
    if (!route.writes()) continue;
    const unsigned status = api::ask(reading, asked).status();
    EXPECT_TRUE(status == 405 || status == 404) << text_of(route) << ": " << status;
  }
  EXPECT_EQ(api::ask(reading, {"GET", "/api/v1/queues"}).status(), 200U);
  const json document = json::parse(openapi("", true));
  for (const auto& [path, methods] : document["paths"].items()) {
    for (const auto& [method, operation] : methods.items()) EXPECT_EQ(method, "get") << path;
  }
}

TEST_F(RouteTest, ABasePathStandsBeforeEach) {
  Service settings = service();
  settings.base_path = "/allot";
  Application behind(settings, authorize);
  const Answered made =
      api::ask(behind, {"POST", "/allot/api/v1/tasks", R"({"queue":"mail","type":"t"})"});
  ASSERT_EQ(made.status(), 201U) << made;
  EXPECT_EQ(made.field("location"),
            "/allot/api/v1/tasks/" + made.document()["id"].get<std::string>());
  EXPECT_EQ(api::ask(behind, {"GET", made.field("location")}).status(), 200U);
  EXPECT_EQ(api::ask(behind, {"GET", "/api/v1/queues"}).status(), 404U);
}

// The document for programs must not promise missing answers.
TEST_F(RouteTest, OpenapiNamesOnlyWhatIsThere) {
  EXPECT_EQ(document_["openapi"], "3.1.0");
  std::set<std::string> operations;
  const std::string text = document_.dump();
  for (const auto& [path, methods] : document_["paths"].items()) {
    EXPECT_EQ(path.front(), '/');
    for (const auto& [method, operation] : methods.items()) {
      EXPECT_TRUE(operations.insert(operation["operationId"]).second) << operation["operationId"];
      EXPECT_FALSE(operation["responses"].empty()) << path;
      for (std::size_t at = path.find('{'); at != std::string::npos; at = path.find('{', at + 1)) {
        const std::string name = path.substr(at + 1, path.find('}', at) - at - 1);
        bool found = false;
        for (const json& parameter : operation["parameters"]) {
          found = found || (parameter["in"] == "path" && parameter["name"] == name);
        }
        EXPECT_TRUE(found) << path << " " << name;
      }
    }
  }
  EXPECT_EQ(operations.size(), routes().size());
  for (std::size_t at = text.find("\"$ref\":\"#"); at != std::string::npos;
       at = text.find("\"$ref\":\"#", at + 1)) {
    const std::size_t from = at + 9;
    const std::string pointer = text.substr(from, text.find('"', from) - from);
    EXPECT_TRUE(document_.contains(json::json_pointer(pointer))) << pointer;
  }
}

}  // namespace
}  // namespace allot::gateway::api
