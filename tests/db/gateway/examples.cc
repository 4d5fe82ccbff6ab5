// SPDX-License-Identifier: Apache-2.0
#include "db/gateway/examples.h"

#include <cctype>

#include "db/gateway/schema.h"
#include "queue/locks/lock_store.h"
#include "queue/schedules/schedule_store.h"

namespace allot::gateway::api {

std::string text_of(const Route& route) {
  return std::string(route.method) + " " + std::string(route.path);
}

ExamplesTest::ExamplesTest() : document_(json::parse(openapi("", false))) {
  queue::ensure_lock(observer_, "billing", 2);
  put_nightly();
}

void ExamplesTest::put_nightly() {
  queue::ScheduleSpec spec;
  spec.name = "nightly";
  spec.expression = "0 3 * * *";
  spec.queue = "mail";
  spec.type = "t";
  queue::put_schedule(observer_, spec, queue::database_now(observer_) + std::chrono::hours(1));
}

ExamplesTest::Names ExamplesTest::names_for(const Route& route) {
  Names names{{"queue", "mail"}, {"schedule", "nightly"}, {"lock", "billing"}};
  names["unique_key"] = "taken";
  if (route.path.find("{action}") != std::string_view::npos) names["action"] = begin_bulk("mail");
  if (route.path.find("{schedule}") != std::string_view::npos) put_nightly();
  if (route.name == "set_max_running") {
    queue::ensure_queue(observer_, "some", {4, queue::Placement::kLimited, 3});
    names["queue"] = "some";
  }
  if (route.name == "find_task") {
    EXPECT_LT(post("/api/v1/tasks", R"({"queue":"mail","type":"t","unique_key":"taken"})").status(),
              300U);
  }
  if (route.name == "remove_route") {
    EXPECT_EQ(ask({"PUT", "/api/v1/routes",
                   R"({"type":"report.*","from":"mail","to":"other","confirm":true})"})
                  .status(),
              200U);
  }
  if (route.path.find("{id}") == std::string_view::npos) return names;
  names["id"] = put();
  if (route.name == "retry" || route.name == "discard") {
    EXPECT_EQ(post("/api/v1/tasks/" + names["id"] + "/cancel").status(), 200U);
  }
  return names;
}

std::string ExamplesTest::begin_bulk(const std::string& queue) {
  const std::string path = "/api/v1/queues/" + queue + "/dead/retry";
  const json count = post(path).document();
  return post(path, json{{"token", count["token"]}}.dump()).document()["action"].dump();
}

std::string ExamplesTest::path_of(const Route& route, const Names& names) {
  std::string path(route.path);
  for (const auto& [name, value] : names) {
    const std::size_t at = path.find("{" + name + "}");
    if (at != std::string::npos) path.replace(at, name.size() + 2, value);
  }
  return path;
}

Asked ExamplesTest::example_of(const Route& route, const Names& names) {
  Asked asked{std::string(route.method), path_of(route, names)};
  json body = json::object();
  for (const Parameter& each : route.parameters) {
    // The history of the examples has no task.
    if (each.example.empty() || each.name == "after") continue;
    if (each.in == In::kQuery) {
      asked.target += (asked.target.find('?') == std::string::npos ? "?" : "&") +
                      std::string(each.name) + "=" + escaped(each.example);
    } else if (each.in == In::kHeader) {
      std::string name(each.name);
      for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      asked.fields.push_back({name, std::string(each.example)});
    } else if (each.in == In::kBody) {
      body[std::string(each.name)] =
          each.kind == Kind::kText ? json(each.example) : json::parse(each.example);
    }
  }
  if (!body.empty()) asked.body = body.dump();
  if (route.body == Body::kTasks) asked.body = route.example;
  return asked;
}

std::string ExamplesTest::fault(const std::string& schema, const json& value) const {
  return fault_of(document_, {{"$ref", "#/components/schemas/" + schema}}, value);
}

void ExamplesTest::expect_problem(const Answered& answered, unsigned status,
                                  const std::string& what) {
  EXPECT_EQ(answered.status(), status) << what << ": " << answered;
  EXPECT_EQ(answered.response.type, "application/problem+json") << what;
  EXPECT_EQ(fault("Problem", answered.document()), "") << what << ": " << answered;
}

}  // namespace allot::gateway::api
