// SPDX-License-Identifier: Apache-2.0
// Routes make the same changes as their commands, and refuse what the commands refuse or ask about.
#include <gtest/gtest.h>

#include "db/gateway/fixture.h"
#include "queue/locks/lock_store.h"

namespace allot::gateway::api {
namespace {

class ChangesTest : public GatewayTest {
 protected:
  Answered put_route(const std::string& body) { return ask({"PUT", "/api/v1/routes", body}); }
  Answered end_route(const std::string& query) {
    return ask({"DELETE", "/api/v1/routes?" + query});
  }
  std::string queue_of(const std::string& fields) {
    const Answered made = post("/api/v1/tasks", fields);
    return get("/api/v1/tasks/" + made.document().value("id", "")).document().value("queue", "");
  }
};

TEST_F(ChangesTest, ARouteTakesTasksElsewhereUntilItEnds) {
  const Answered set = put_route(R"({"type":"a.*","from":"mail","to":"other"})");
  ASSERT_EQ(set.status(), 200U) << set;
  EXPECT_EQ(set.document()["to"], "other");
  EXPECT_EQ(set.document()["type"], "a.*");
  EXPECT_EQ(get("/api/v1/routes").document()["items"][0], set.document());
  EXPECT_TRUE(
      support::eventually([&] { return queue_of(R"({"queue":"mail","type":"a.b"})") == "other"; }));
  EXPECT_EQ(queue_of(R"({"queue":"mail","type":"b"})"), "mail");

  const Answered changed = put_route(R"({"type":"","to":"mail"})");
  EXPECT_EQ(changed.status(), 400U) << changed;
  EXPECT_EQ(put_route(R"({"type":"*","to":"mail"})").status(), 200U);
  EXPECT_TRUE(support::eventually([&] { return queue_of(R"({"type":"x"})") == "mail"; }));

  EXPECT_EQ(end_route("type=a.*&from=mail").document(), set.document());
  const Answered again = end_route("type=a.*&from=mail");
  EXPECT_EQ(again.status(), 404U) << again;
  EXPECT_EQ(again.named(), "type");
  EXPECT_TRUE(
      support::eventually([&] { return queue_of(R"({"queue":"mail","type":"a.b"})") == "mail"; }));
}

// A field that two readers may interpret differently is refused, and named.
TEST_F(ChangesTest, OptionsAreReadInOneWayOnly) {
  const auto rate = [&](const std::string& body) {
    return ask({"PUT", "/api/v1/queues/mail/rate", body});
  };
  using namespace std::string_literals;
  for (const char* number : {"1e400", "-1e400", "1e300"}) {
    const Answered answered = rate(R"({"burst":1,"per_second":)" + std::string(number) + "}");
    EXPECT_EQ(answered.status(), 400U) << answered;
    EXPECT_EQ(answered.named(), "per_second") << answered;
  }
  EXPECT_EQ(rate(R"({"per_second":5,"burst":1e400})").named(), "burst");
  EXPECT_EQ(rate(R"({"per_second":"5"})").named(), "per_second");
  const Answered twice = rate(R"({"per_second":5,"per_second":500})");
  EXPECT_EQ(twice.status(), 400U);
  EXPECT_EQ(twice.named(), "per_second");
  EXPECT_EQ(twice.detail(), "'per_second' occurs twice");
  EXPECT_EQ(rate("{\"per_second\":5}\0{\"per_second\":500}"s).detail(),
            "the body is not JSON, at byte 17: a NUL byte");
  EXPECT_EQ(rate(R"({"per_second":5}{})").detail(),
            "the body is not a single JSON value, at byte 17");
  EXPECT_EQ(number("SELECT COUNT(*) FROM queue_rate"), 0U);
  EXPECT_EQ(rate(R"({"per_second":5})").status(), 200U);
}

TEST_F(ChangesTest, AWrongRouteIsRefusedAndNothingIsChanged) {
  EXPECT_EQ(put_route(R"({"type":"t","from":"mail","to":"mail"})").status(), 400U);
  EXPECT_EQ(put_route(R"({"type":"t","from":"mail","to":"ordered"})").status(), 400U);
  EXPECT_EQ(put_route(R"({"type":"t","from":"mail","to":"none"})").status(), 404U);
  EXPECT_EQ(put_route(R"({"type":"t","from":"none","to":"mail"})").status(), 404U);
  EXPECT_EQ(put_route(R"({"type":"t","from":"mail"})").named(), "to");
  EXPECT_EQ(put_route(R"({"to":"mail"})").named(), "type");
  EXPECT_EQ(end_route("type=t&from=mail&confirm=perhaps").named(), "confirm");
  EXPECT_EQ(number("SELECT COUNT(*) FROM route WHERE target_id > 0"), 0U);
}

// The command asks; a program must confirm explicitly.
TEST_F(ChangesTest, ARouteOverUniqueKeysNeedsConfirm) {
  put("mail", R"(,"unique_key":"k")");
  const Answered refused = put_route(R"({"type":"t","from":"mail","to":"other"})");
  EXPECT_EQ(refused.status(), 409U) << refused;
  EXPECT_EQ(refused.named(), "confirm");
  EXPECT_EQ(number("SELECT COUNT(*) FROM route WHERE target_id > 0"), 0U);
  EXPECT_EQ(put_route(R"({"type":"t","from":"mail","to":"other","confirm":true})").status(), 200U);
  EXPECT_TRUE(
      support::eventually([&] { return queue_of(R"({"queue":"mail","type":"t"})") == "other"; }));
  EXPECT_EQ(queue_of(R"({"queue":"mail","type":"t","unique_key":"l"})"), "other");
  EXPECT_EQ(end_route("type=t&from=mail").named(), "confirm");
  EXPECT_EQ(end_route("type=t&from=mail&confirm=true").status(), 200U);
}

TEST_F(ChangesTest, ARouteMovesWhatWaits) {
  for (int i = 0; i < 5; ++i) put("mail");
  put("mail", R"(,"unique_key":"k")");
  EXPECT_EQ(post("/api/v1/tasks", R"({"queue":"mail","type":"x"})").status(), 201U);
  const auto tasks_of = [&](const std::string& queue) {
    return number("SELECT COUNT(*) FROM task JOIN queue USING (queue_id) WHERE queue.name = '" +
                  queue + "'");
  };
  const std::string moves = R"({"type":"t","from":"mail","to":"other","confirm":true,"move":true)";
  const Answered set = put_route(moves + "}");
  ASSERT_EQ(set.status(), 200U) << set;
  const json all{{"tasks", 5},  {"moved", 5},  {"gone", 0},
                 {"leased", 0}, {"unique", 1}, {"next", nullptr}};
  EXPECT_EQ(set.document()["waiting"], all);
  EXPECT_EQ(tasks_of("other"), 5U);
  EXPECT_EQ(tasks_of("mail"), 2U);
  EXPECT_EQ(put_route(moves + "}").document()["waiting"]["moved"], 0);
  EXPECT_EQ(put_route(moves + R"(,"cursor":"x"})").named(), "cursor");
  EXPECT_EQ(put_route(R"({"type":"*","to":"other","move":true})").named(), "from");
  EXPECT_EQ(put_route(R"({"type":"t","from":"ordered","to":"other","move":true})").status(), 400U);
}

TEST_F(ChangesTest, AQueuesTasksAreMoved) {
  for (int i = 0; i < 3; ++i) put("mail");
  EXPECT_EQ(post("/api/v1/tasks", R"({"queue":"mail","type":"report.x"})").status(), 201U);
  const auto move = [&](const std::string& body) { return post("/api/v1/queues/mail/move", body); };
  const json counted = move(R"({"to":"other","count":true})").document();
  EXPECT_EQ(counted["moved"], 0) << counted;
  EXPECT_GT(counted["tasks"], 1) << counted;
  EXPECT_EQ(move(R"({"to":"other","limit":1,"count":true})").document()["tasks"], 1);
  const Answered some = move(R"({"to":"other","type":"report.*"})");
  const json one{{"tasks", 1},  {"moved", 1},  {"gone", 0},
                 {"leased", 0}, {"unique", 0}, {"next", nullptr}};
  EXPECT_EQ(some.document(), one) << some;
  EXPECT_EQ(move(R"({"to":"other"})").document()["moved"], 3);
  EXPECT_EQ(move(R"({"to":"mail"})").named(), "to");
  EXPECT_EQ(move(R"({"to":"none"})").status(), 404U);
  EXPECT_EQ(move(R"({"to":"other","cursor":"x"})").named(), "cursor");
  EXPECT_EQ(post("/api/v1/queues/ordered/move", R"({"to":"other"})").named(), "queue");
  EXPECT_EQ(post("/api/v1/queues/mail/move", R"({"to":"other"})", "mail").status(), 404U)
      << "a token for one queue";
}

// A derived table of 0 to 9.
std::string digits(const std::string& name) {
  std::string text = "(SELECT 0 AS n";
  for (int digit = 1; digit < 10; ++digit) text += " UNION ALL SELECT " + std::to_string(digit);
  return text + ") AS " + name;
}

TEST_F(ChangesTest, AMoveContinuesWhereItsPageEnded) {
  put("mail");
  // A page of another type before it: the keys of today are far larger.
  observer_.execute(
      "INSERT INTO task (queue_id, partition_no, prio, run_key, type, payload)"
      " SELECT q.queue_id, 0, 1, n.n, 'x', '' FROM queue AS q JOIN ("
      "  SELECT a.n + 10 * b.n + 100 * c.n + 1000 * d.n + 1 AS n FROM " +
      digits("a") + ", " + digits("b") + ", " + digits("c") + ", " + digits("d") +
      ") AS n WHERE q.name = 'mail'");
  const std::string moves = R"({"type":"t","from":"mail","to":"other","move":true)";
  const json first = put_route(moves + "}").document()["waiting"];
  EXPECT_EQ(first["moved"], 0);
  ASSERT_TRUE(first["next"].is_string()) << first;
  const json second = put_route(moves + R"(,"cursor":")" + first["next"].get<std::string>() + "\"}")
                          .document()["waiting"];
  EXPECT_EQ(second["moved"], 1);
  EXPECT_EQ(second["next"], nullptr);
}

TEST_F(ChangesTest, LeasedTasksStay) {
  put("mail");
  observer_.execute("UPDATE q_lock_table SET state = 'LOCKED', lock_by = 1");
  const json waiting =
      put_route(R"({"type":"t","from":"mail","to":"other","move":true})").document()["waiting"];
  EXPECT_EQ(waiting["moved"], 0);
  EXPECT_EQ(waiting["leased"], 1);
}

TEST_F(ChangesTest, ASlotAndSlotsHaveTheirBounds) {
  queue::ensure_lock(observer_, "billing", 2);
  for (const char* wrong : {R"({"slots":1025})", R"({"slots":"3"})", "{}"}) {
    EXPECT_EQ(post("/api/v1/locks/billing/resize", wrong).named(), "slots") << wrong;
  }
  EXPECT_EQ(post("/api/v1/locks/billing/break", R"({"slot":2000})").named(), "slot");
}

}  // namespace
}  // namespace allot::gateway::api
