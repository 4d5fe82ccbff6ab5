// SPDX-License-Identifier: Apache-2.0
// allot_submit_many: a list, all or nothing.
#include <nlohmann/json.hpp>

#include "db/sqlapi/fixture.h"

namespace allot::sqlapi {
namespace {

using nlohmann::json;

class ManyTest : public SqlApiTest {
 protected:
  json submit(const std::string& tasks) { return call_submit_many(app_, tasks); }
  std::string refusal_of(const std::string& tasks) {
    const auto error = support::db_error_of([&] { submit(tasks); });
    return error ? error->what() : "";
  }
  std::optional<queue::TaskView> task_of(const json& made) {
    return task({made.at("id").get<std::string>(), false});
  }
};

TEST_F(ManyTest, APayloadIsItsTextOrItsJson) {
  const json made =
      submit(R"([{"queue": "default", "type": "t", "payload": "a\u0000\"\\\ud83d\ude00ä"},)"
             R"( {"queue": "default", "type": "t", "payload": {"to": ["x", 1, null]}},)"
             R"( {"queue": "default", "type": "t"}])");
  EXPECT_EQ(task_of(made[0])->payload, std::string("a\0\"\\", 4) + "\U0001f600\u00e4");
  EXPECT_EQ(json::parse(task_of(made[1])->payload), json::parse(R"({"to": ["x", 1, null]})"));
  EXPECT_EQ(task_of(made[2])->payload, "");
  EXPECT_EQ(submit("[]"), json::array());
}

// Text in a payload that looks like a duplicate name. MySQL aborts a regular expression that
// matches as often as there are strings here.
TEST_F(ManyTest, APayloadMayHaveAnyNamesAndAnyLength) {
  json payload = json::array();
  for (int i = 0; i < 60'000; ++i) payload.push_back({{"a:\"{", {i, "}\\", {{"a", "]:"}}}}});
  const json made = submit(
      json::array({{{"queue", "default"}, {"type", "t"}, {"payload", payload}, {"prio", 0}},
                   {{"queue", "default"}, {"type", "t"}, {"payload", payload[0].dump() + ":"}}})
          .dump());
  EXPECT_EQ(json::parse(task_of(made[0])->payload), payload);
  EXPECT_EQ(task_of(made[1])->payload, payload[0].dump() + ":");
}

TEST_F(ManyTest, OneThatIsWrongIsNamedAndNoneIsSubmitted) {
  const std::string good = R"([{"queue": "default", "type": "t", "unique_key": "k"}, )";
  const std::pair<std::string, const char*> cases[] = {
      {"x", "tasks: not JSON"},
      {"{}", "tasks: not a JSON array of objects"},
      {good + "5]", "task 2: not a JSON object"},
      {good + R"({"type": "t"}])", "task 2: queue NULL: no route takes type 't' without a queue"},
      {good + R"({"queue": "default"}])", "task 2: type NULL: 1 to 127"},
      {good + R"({"queue": 5, "type": "t"}])", "task 2: 'queue' must be a string"},
      {good + R"({"queue": "default", "type": []}])", "task 2: 'type' must be a string"},
      {good + R"({"queue": "default", "type": "t", "payloda": ""}])",
       R"(task 2: options: unknown option "payloda")"},
      {good + R"({"queue": "default", "type": "t", "prio": 1, "prio": 2}])",
       "task 2: options: an option is given twice"},
      {good + R"({"queue": "default", "type": "t", "payload": {"a": ["}"]}, "type": "u"}])",
       "task 2: options: an option is given twice"},
      {good + R"({"queue": "default", "type": "t", "prio": 4, "unique_key": "l"}])",
       "task 2: 'prio' must be 0 (first) to 3"},
      {good + R"({"queue": "default", "type": "t", "delay": "-1s"}])",
       "task 2: 'delay' is \"-1s\""},
      {json::array_t(1001, json::object()).size() == 1001
           ? json(json::array_t(1001, json::object())).dump()
           : "",
       "tasks: 1001 exceed the limit of 1000 per call"},
  };
  for (const auto& [list, words] : cases) {
    EXPECT_NE(refusal_of(list).find(words), std::string::npos) << refusal_of(list);
    app_.execute("BEGIN");
    EXPECT_NE(refusal_of(list), "");
    app_.execute("COMMIT");
  }
  const auto none =
      support::db_error_of([&] { app_.execute("CALL allot_submit_many(NULL, @made)"); });
  EXPECT_TRUE(none);
  EXPECT_EQ(tasks(), 0U);
  EXPECT_EQ(keys(), 0U);
}

}  // namespace
}  // namespace allot::sqlapi
