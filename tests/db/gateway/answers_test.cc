// SPDX-License-Identifier: Apache-2.0
// Each answer that openapi.json promises for a request is produced by that request, and matches its
// schema: success, and each error. A row of the table that cannot be provoked here has an answer
// that is not given.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>

#include "db/gateway/examples.h"
#include "db/gateway/schema.h"
#include "queue/operate/resize.h"

namespace allot::gateway::api {
namespace {

class AnswersTest : public ExamplesTest {
 protected:
  // Validates the document of an answer against the schema of its operation, status and type.
  [[nodiscard]] std::string fault_of_answer(const Route& route, const Answered& answered) const {
    std::string method(route.method);
    for (char& c : method) c = static_cast<char>(c | 0x20);
    const json& responses = document_["paths"][std::string(route.path)][method]["responses"];
    const std::string status = std::to_string(answered.status());
    if (!responses.contains(status)) return "openapi.json has no " + status;
    const json& content = responses[status]["content"];
    if (!content.contains(answered.response.type)) return "it is " + answered.response.type;
    const json& of_type = content[answered.response.type];
    if (!of_type.contains("schema")) return {};
    return fault_of(document_, of_type["schema"], answered.document());
  }

  void expect_answer(const Route& route, unsigned status, const Answered& answered) {
    EXPECT_EQ(answered.status(), status) << text_of(route) << ": " << answered;
    EXPECT_EQ(fault_of_answer(route, answered), "") << text_of(route) << ": " << answered;
  }

  // The example, with one word of its body or query changed.
  Asked with(const Route& route, const std::string& name, const json& value) {
    Asked asked = example_of(route);
    json body = asked.body.empty() ? json::object() : json::parse(asked.body);
    body[name] = value;
    asked.body = body.dump();
    return asked;
  }
  Answered on_task(const std::string& id, const Route& route) {
    Names names{{"id", id}};
    return ask(example_of(route, names));
  }
  std::string put_dead() {
    const std::string id = put();
    EXPECT_EQ(post("/api/v1/tasks/" + id + "/cancel").status(), 200U);
    return id;
  }

  Answered begin_with_token(const Route& route) {
    const Asked count = example_of(route);
    json body = json::parse(count.body);
    body["token"] = ask(count).document()["token"];
    Asked begin = count;
    begin.body = body.dump();
    return ask(begin);
  }

  // Requests in a state in which they must be refused.
  std::map<std::string, std::function<Answered(const Route&)>, std::less<>> conflicts() {
    const auto bulk = [this](const Route& route) {
      Answered last = begin_with_token(route);
      for (int i = 0; i < 200 && last.status() == 202; ++i) last = begin_with_token(route);
      return last;
    };
    const auto routed = [this](const Route& route) {
      EXPECT_EQ(post("/api/v1/tasks", R"({"queue":"mail","type":"report.x","unique_key":"kept"})")
                    .status(),
                201U);
      return ask(example_of(route));
    };
    return {{"cancel", [this](const Route& route) { return on_task(put_dead(), route); }},
            {"retry", [this](const Route& route) { return on_task(put(), route); }},
            {"submit_again",
             [this](const Route& route) {
               const std::string signed_one = "allot-hmac-sha256 " + std::string(64, '0');
               return on_task(put("mail", R"(,"payload":")" + signed_one + "\""), route);
             }},
            {"discard", [this](const Route& route) { return on_task(put(), route); }},
            {"move", [this](const Route& route) { return on_task(put_dead(), route); }},
            {"resize",
             [this](const Route& route) {
               make_queue("limited", {2, queue::Placement::kLimited, 1});
               put("limited", R"(,"partition_key":"p","delay":"2h")");
               const Names names{{"queue", "limited"}};
               return ask(example_of(route, names));
             }},
            {"set_max_running",
             [this](const Route& route) {
               const auto queue = make_queue("busy", {4, queue::Placement::kLimited, 1});
               put("busy", R"(,"partition_key":"p")");
               queue::resize_layout(observer_, queue, 7);
               const Names names{{"queue", "busy"}};
               return ask(example_of(route, names));
             }},
            {"move_waiting",
             [this](const Route& route) {
               make_queue("keyed", {2, queue::Placement::kLimited, 1});
               return ask(example_of(route, Names{{"queue", "keyed"}}));
             }},
            {"retry_all_dead", bulk},
            {"discard_all_dead", bulk},
            {"stop_bulk_action",
             [this](const Route& route) {
               const Asked stop = example_of(route);
               EXPECT_EQ(ask(stop).status(), 200U);
               return ask(stop);
             }},
            {"set_route", routed},
            {"remove_route", [this](const Route& route) {
               Asked end = example_of(route);
               EXPECT_EQ(post("/api/v1/tasks",
                              R"({"queue":"other","type":"report.x","unique_key":"kept"})")
                             .status(),
                         201U);
               return ask(end);
             }}};
  }

  std::map<std::string, std::function<Answered(const Route&)>, std::less<>> further_answers() {
    return {
        {"put_schedule 201",
         [this](const Route& route) {
           return ask(example_of(route, {{"schedule", "weekly"}}));
         }},
        {"submit 200",
         [this](const Route& route) {
           const Asked asked = example_of(route);
           EXPECT_LT(ask(asked).status(), 300U);
           return ask(asked);
         }},
        {"retry_all_dead 202", [this](const Route& route) { return begin_with_token(route); }},
        {"discard_all_dead 202", [this](const Route& route) { return begin_with_token(route); }}};
  }
};

// True if openapi.json promises that status.
bool has(const json& document, const Route& route, unsigned status) {
  std::string method(route.method);
  for (char& c : method) c = static_cast<char>(c | 0x20);
  return document["paths"][std::string(route.path)][method]["responses"].contains(
      std::to_string(status));
}

TEST_F(AnswersTest, EachRouteAnswersItsExample) {
  auto further = further_answers();
  for (const Route& route : routes()) {
    expect_answer(route, route.answers.front().status, ask(example_of(route)));
    for (std::size_t i = 1; i < route.answers.size(); ++i) {
      const unsigned status = route.answers[i].status;
      const std::string name = std::string(route.name) + " " + std::to_string(status);
      ASSERT_TRUE(further.contains(name)) << "no case shows " << name;
      expect_answer(route, status, further[name](route));
    }
  }
}

TEST_F(AnswersTest, InvalidRequestsAreRefused) {
  for (const Route& route : routes()) {
    const Asked example = example_of(route);
    if (has(document_, route, 400)) {
      Asked wrong = example;
      wrong.target +=
          (wrong.target.find('?') == std::string::npos ? "?" : "&") + std::string("x=1");
      expect_answer(route, 400, ask(wrong));
    }
    if (has(document_, route, 401)) {
      Asked stranger = example;
      stranger.token = "stranger";
      expect_answer(route, 401, ask(stranger));
    }
    if (has(document_, route, 403)) {
      Asked other = example;
      other.token = route.role == access::Role::kRead ? "operator" : "reader";
      expect_answer(route, 403, ask(other));
      other.token = "mail";  // every role, for one queue
      if (route.everywhere) expect_answer(route, 403, ask(other));
    }
    if (has(document_, route, 413)) {
      Asked large = example;
      if (large.body.empty()) large.body = "{}";
      large.body = std::string(application_->admit(head_of(large)).most_body + 1, ' ');
      expect_answer(route, 413, ask(large));
    }
    if (has(document_, route, 415)) {
      Asked foreign = example;
      if (foreign.body.empty()) foreign.body = "{}";
      foreign.type = "text/html";
      expect_answer(route, 415, ask(foreign));
    }
  }
}

TEST_F(AnswersTest, UnknownSubjectsAre404) {
  const Names nothing{{"id", "0840dqg2v5n80r00"}, {"queue", "none"}, {"unique_key", "none"},
                      {"schedule", "none"},       {"lock", "none"},  {"action", "4711"}};
  for (const Route& route : routes()) {
    if (!has(document_, route, 404)) continue;
    if (route.name == "set_route") {
      expect_answer(route, 404, ask(with(route, "to", "none")));
    } else if (route.name == "list_minutes" || route.name == "list_failures" ||
               route.name == "list_types") {
      Asked asked = example_of(route);
      asked.target = std::string(route.path) + "?queue=none";
      expect_answer(route, 404, ask(asked));
    } else if (route.name == "put_schedule") {
      expect_answer(route, 404, ask(with(route, "queue", "none")));
    } else {
      expect_answer(route, 404, ask(example_of(route, nothing)));
    }
  }
}

TEST_F(AnswersTest, ConflictsAre409) {
  auto all = conflicts();
  for (const Route& route : routes()) {
    if (!has(document_, route, 409)) continue;
    ASSERT_TRUE(all.contains(route.name)) << "no case shows 409 of " << text_of(route);
    expect_answer(route, 409, all[std::string(route.name)](route));
    observer_.execute("DELETE FROM bulk_action");  // the number of open ones is limited
    all.erase(std::string(route.name));
  }
  EXPECT_TRUE(all.empty()) << all.begin()->first << " has no 409";
}

TEST_F(AnswersTest, WithoutADatabase) {
  Service settings = service();
  settings.threads = 1;
  settings.database.socket = "/nonexistent/socket";
  Application nowhere(settings, authorize);
  for (const Route& route : routes()) {
    if (has(document_, route, 503)) {
      expect_answer(route, 503, api::ask(nowhere, example_of(route)));
    }
  }
}

TEST_F(AnswersTest, WithoutARight) {
  Service settings = service();
  settings.threads = 1;
  settings.database.user = "nobody_of_that_name";
  settings.database.password = "wrong";
  Application stranger(settings, authorize);
  for (const Route& route : routes()) {
    if (has(document_, route, 500)) {
      expect_answer(route, 500, api::ask(stranger, example_of(route)));
    }
  }
}

// The connection is lost while the database executes the request.
TEST_F(AnswersTest, WithALostReply) {
  Service settings = service();
  settings.threads = 1;
  Application losing(settings, authorize);
  db::Connection killer = server_.connect(name_);
  const std::string waiting =
      "SELECT COALESCE(MAX(id), 0) FROM information_schema.processlist WHERE db = '" + name_ +
      "' AND state LIKE 'Waiting for table%'";
  std::string tables;
  auto names =
      observer_.execute("SELECT table_name FROM information_schema.tables WHERE table_schema = '" +
                        name_ + "' AND table_type = 'BASE TABLE' AND table_name <> 'allot_schema'");
  while (const auto row = names.front().next()) {
    tables += (tables.empty() ? "" : ", ") + std::string(row->text(0)) + " WRITE";
  }
  for (const Route& route : routes()) {
    if (!has(document_, route, 504)) continue;
    Asked example = example_of(route);
    // A recently used connection is not checked, because the check would wait as well.
    EXPECT_EQ(api::ask(losing, {"GET", "/api/v1/queues"}).status(), 200U);
    if (route.executor == Executor::kCombiner) {
      example.fields.clear();  // with a key the transaction ends with a separate statement
      api::ask(losing, example);
    }
    observer_.execute("LOCK TABLES " +
                      (route.executor == Executor::kCombiner ? "task WRITE" : tables));
    auto answer = begin(losing, example);
    std::uint64_t id = 0;
    EXPECT_TRUE(support::eventually([&] {
      id = support::number_of(killer, waiting);
      return id != 0;
    })) << text_of(route);
    if (id != 0) killer.execute("KILL " + std::to_string(id));
    observer_.execute("UNLOCK TABLES");
    expect_answer(route, 504, answer.get());
  }
}

// Otherwise a new kind of error would have no test.
TEST_F(AnswersTest, EachKindHasItsTestHere) {
  const std::set<std::string> kShown{"200", "201", "202", "400", "401", "403", "404",
                                     "409", "413", "415", "500", "503", "504"};
  for (const auto& [path, methods] : document_["paths"].items()) {
    for (const auto& [method, operation] : methods.items()) {
      for (const auto& [status, response] : operation["responses"].items()) {
        EXPECT_TRUE(kShown.contains(status)) << method << " " << path << " " << status;
      }
    }
  }
}

}  // namespace
}  // namespace allot::gateway::api
