// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "db/gateway/fixture.h"
#include "queue/model/task.h"
#include "queue/operate/route.h"

namespace allot::gateway::api {
namespace {

using SubmitRouteTest = GatewayTest;

constexpr const char* kTasks = "/api/v1/tasks";

TEST_F(SubmitRouteTest, ATaskIsThereOnceItIsAnswered) {
  const Answered made =
      post(kTasks, R"({"queue":"mail","type":"mail.send","payload":{"to":"ann"},"prio":2})");
  ASSERT_EQ(made.status(), 201U) << made;
  EXPECT_EQ(made.response.type, "application/json");
  const std::string id = made.document().at("id");
  EXPECT_EQ(made.document(), (json{{"id", id}, {"existed", false}}));
  EXPECT_EQ(made.field("location"), "/api/v1/tasks/" + id);
  EXPECT_EQ(value("SELECT CONCAT_WS('|', type, payload, prio) FROM task"),
            "mail.send|{\"to\":\"ann\"}|2");
  const Answered shown = get("/api/v1/tasks/" + id);
  ASSERT_EQ(shown.status(), 200U) << shown;
  EXPECT_EQ(shown.document().at("task"), id);
  EXPECT_EQ(shown.document().at("queue"), "mail");
  EXPECT_EQ(shown.document().at("payload"), "{\"to\":\"ann\"}");
  EXPECT_EQ(shown.document().at("state"), "waiting");
  const Answered both =
      post(kTasks, R"([{"queue":"mail","type":"a"},{"queue":"mail","type":"b"}])");
  EXPECT_EQ(both.status(), 201U) << both;
  EXPECT_EQ(both.field("location"), "") << "which of them?";
}

TEST_F(SubmitRouteTest, ATakenKeyIsAnsweredWithItsTask) {
  const Asked asked{"POST",
                    kTasks,
                    R"({"queue":"mail","type":"t"})",
                    "application/json",
                    {{"idempotency-key", "\"k-1\""}}};
  const Answered first = ask(asked);
  ASSERT_EQ(first.status(), 201U) << first;
  const Answered again = ask(asked);
  ASSERT_EQ(again.status(), 200U) << again;
  EXPECT_EQ(again.document(),
            (json{{"id", first.document()["id"]}, {"existed", true}, {"state", "waiting"}}));
  EXPECT_EQ(again.field("location"), first.field("location"));
  // The body field and the bare value are the same key.
  EXPECT_EQ(post(kTasks, R"({"queue":"mail","type":"t","unique_key":"k-1"})").status(), 200U);
  Asked bare = asked;
  bare.fields.front().value = "k-1";
  EXPECT_EQ(ask(bare).status(), 200U);
  EXPECT_EQ(number("SELECT COUNT(*) FROM task"), 1U);
}

constexpr const char* kParent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
constexpr const char* kOther = "00-0af7651916cd43dd8448eb211c80319d-b7ad6b7169203331-00";

class TraceTest : public GatewayTest {
 protected:
  // Stored form of a submission with these header fields.
  std::string stored(std::vector<http::Field> fields, const json& task = json::object()) {
    observer_.execute("DELETE FROM task WHERE queue_id > 0");
    json body{{"queue", "mail"}, {"type", "t"}};
    body.update(task);
    const Answered made = ask({"POST", kTasks, body.dump(), "application/json", std::move(fields)});
    EXPECT_EQ(made.status(), 201U) << made;
    return value("SELECT COALESCE(headers, 'NULL') FROM task");
  }
};

TEST_F(TraceTest, TraceOfARequestIsPassedToItsTasks) {
  const std::string parent = std::string("traceparent=") + kParent;
  EXPECT_EQ(stored({}), "NULL");
  EXPECT_EQ(stored({{"traceparent", kParent}}), parent);
  EXPECT_EQ(stored({{"traceparent", kParent}, {"tracestate", "a=1"}, {"tracestate", "b=2"}}),
            parent + "\ntracestate=a=1,b=2");
  EXPECT_EQ(stored({{"traceparent", kParent}, {"tracestate", "a=1"}}, {{"traceparent", kOther}}),
            std::string("traceparent=") + kOther);
  EXPECT_EQ(stored({{"traceparent", kParent}}, {{"max_attempts", 2}}), "max_attempts=2\n" + parent);
}

TEST_F(TraceTest, BrokenTraceIsIgnored) {
  EXPECT_EQ(stored({{"traceparent", "00-0-0-00"}, {"tracestate", "a=1"}}), "NULL");
  EXPECT_EQ(stored({{"traceparent", kParent}, {"traceparent", kParent}}), "NULL");
  EXPECT_EQ(stored({{"tracestate", "a=1"}}), "NULL");
  EXPECT_EQ(stored({{"traceparent", "\xff\xfe"}}), "NULL");
  EXPECT_EQ(stored({{"traceparent", std::string(1025, 'x')}}), "NULL");
  EXPECT_EQ(stored({}, {{"traceparent", "no trace"}}), "NULL");
  EXPECT_EQ(stored({{"traceparent", std::string("01") + (kParent + 2) + "-then"}}),
            std::string("traceparent=") + kParent);
  std::string many;
  for (int i = 0; i < 100; ++i) many += (i == 0 ? "k" : ",k") + std::to_string(i) + "=1";
  EXPECT_EQ(stored({{"traceparent", kParent}, {"tracestate", many}}),
            std::string("traceparent=") + kParent);
}

TEST_F(TraceTest, TraceOfARawPayloadIsInTheHeadOrTheQuery) {
  const Answered made = ask({"POST",
                             std::string(kTasks) + "?queue=mail&type=t&max_attempts=7",
                             "x",
                             "application/octet-stream",
                             {{"traceparent", kParent}}});
  ASSERT_EQ(made.status(), 201U) << made;
  const json shown = get("/api/v1/tasks/" + made.document()["id"].get<std::string>()).document();
  EXPECT_EQ(shown["max_attempts"], 7);
  EXPECT_EQ(shown["traceparent"], kParent);
  EXPECT_EQ(shown["tracestate"], nullptr);
}

TEST_F(TraceTest, ALimitThatIsNoneIsRefused) {
  for (const json& most :
       {json(0), json(100001), json("3"), json(1.5), json(-1), json(nullptr), json(9999999999)}) {
    const Answered refused =
        post(kTasks, json{{"queue", "mail"}, {"type", "t"}, {"max_attempts", most}}.dump());
    EXPECT_EQ(refused.status(), 400U) << refused;
    EXPECT_EQ(refused.named(), "max_attempts") << refused;
    EXPECT_EQ(refused.detail(), "'max_attempts' must be a whole number, 1 to 100000");
  }
  const Answered unknown = post(kTasks, R"({"queue":"mail","type":"t","headers":{}})");
  EXPECT_EQ(unknown.status(), 400U);
  EXPECT_EQ(unknown.named(), "headers");
  EXPECT_EQ(number("SELECT COUNT(*) FROM task"), 0U);
}

TEST_F(SubmitRouteTest, ARawPayloadHasItsOptionsInTheQuery) {
  const std::string bytes("\0\xff raw", 6);
  const Answered made =
      ask({"POST", "/api/v1/tasks?queue=mail&type=image.scale&prio=0&unique_key=a%20b", bytes,
           "application/octet-stream"});
  ASSERT_EQ(made.status(), 201U) << made;
  EXPECT_EQ(value("SELECT CONCAT_WS('|', type, HEX(payload), prio) FROM task"),
            "image.scale|00FF20726177|0");
  EXPECT_EQ(value("SELECT unique_key FROM task_unique"), "a b");
}

struct Wrong {
  Asked asked;
  unsigned status;
  std::string field;
};

TEST_F(SubmitRouteTest, InvalidFieldIsNamedAndNothingIsSubmitted) {
  const std::string good = R"({"queue":"mail","type":"t"})";
  const std::string json = "application/json";
  const std::vector<Wrong> cases{
      {{"POST", kTasks, "{"}, 400, ""},
      {{"POST", kTasks, "7"}, 400, ""},
      {{"POST", kTasks, "[]"}, 400, ""},
      {{"POST", kTasks, R"({"queue":"mail"})"}, 400, "type"},
      {{"POST", kTasks, R"({"type":"t"})"}, 400, ""},
      {{"POST", kTasks, R"({"queue":"mail","type":"t","payload":)" + std::string(1'000'000, '[')},
       400,
       "payload"},
      {{"POST", kTasks, good, json, {{"idempotency-key", "\"open"}}}, 400, "idempotency-key"},
      {{"POST", kTasks, good, json, {{"idempotency-key", ""}}}, 400, "idempotency-key"},
      {{"POST", kTasks, good, json, {{"idempotency-key", "a"}, {"idempotency-key", "b"}}},
       400,
       "idempotency-key"},
      {{"POST",
        kTasks,
        R"({"queue":"mail","type":"t","unique_key":"u"})",
        json,
        {{"idempotency-key", "a"}}},
       400,
       "idempotency-key"},
      {{"POST", kTasks, "[" + good + "]", json, {{"idempotency-key", "a"}}},
       400,
       "idempotency-key"},
      {{"POST", std::string(kTasks) + "?queue=mail", good}, 400, ""},
      {{"POST", std::string(kTasks) + "?queue=mail&queue=other", "x", "application/octet-stream"},
       400,
       "queue"},
      {{"POST", std::string(kTasks) + "?queue=mail&type=t&payload=x", "x",
        "application/octet-stream"},
       400,
       "payload"},
      {{"POST", std::string(kTasks) + "?queue=%zz", "x", "application/octet-stream"}, 400, "queue"},
      {{"POST", kTasks, good, "text/plain"}, 415, "content-type"},
      {{"POST", kTasks, good, ""}, 415, "content-type"},
      {{"POST", kTasks, good, json, {{"content-encoding", "gzip"}}}, 415, "content-encoding"},
      {{"POST", "/api/v1/task", good}, 404, ""},
      {{"POST", "/api/v1/tasks/", good}, 404, ""},
      {{"DELETE", kTasks, good}, 405, ""},
      {{"POST", std::string(kTasks) + "?queue=mail&type=t", std::string((16U << 20) + 1, 'x'),
        "application/octet-stream"},
       413,
       ""},
  };
  for (const Wrong& wrong : cases) {
    const Answered answered = ask(wrong.asked);
    const std::string what =
        wrong.asked.method + " " + wrong.asked.target + " " + wrong.asked.body.substr(0, 80);
    EXPECT_EQ(answered.status(), wrong.status) << what << ": " << answered;
    EXPECT_EQ(answered.response.type, "application/problem+json") << what;
    EXPECT_EQ(answered.named(), wrong.field) << what << ": " << answered;
    EXPECT_NE(answered.detail(), "") << what;
    EXPECT_EQ(answered.document().value("status", 0U), wrong.status) << what;
  }
  EXPECT_EQ(number("SELECT COUNT(*) FROM task"), 0U);
}

TEST_F(SubmitRouteTest, AWrongMethodGetsTheAllowedOnes) {
  const Answered answered = ask({"DELETE", kTasks});
  EXPECT_EQ(answered.status(), 405U);
  EXPECT_NE(answered.field("allow").find("POST"), std::string::npos) << answered.field("allow");
}

TEST_F(SubmitRouteTest, ARoleIsNeeded) {
  const std::string good = R"({"queue":"mail","type":"t"})";
  const Answered unknown = post(kTasks, good, "unknown");
  EXPECT_EQ(unknown.status(), 401U);
  EXPECT_EQ(unknown.field("www-authenticate"), "Bearer");
  EXPECT_EQ(post(kTasks, good, "reader").status(), 403U);
  EXPECT_EQ(post(kTasks, good, "operator").status(), 403U);
  EXPECT_EQ(post(kTasks, good, "submitter").status(), 201U);
  EXPECT_EQ(post(kTasks, good, "mail").status(), 201U);
  EXPECT_EQ(post(kTasks, R"({"queue":"other","type":"t"})", "mail").status(), 403U);
  // A queue of other users and a missing one look the same.
  for (const std::string wrong : {R"(,"type":"t"})", R"(,"type":"t","prio":3,"delay":"1s"})"}) {
    const Answered others = post(kTasks, R"({"queue":"other")" + wrong, "mail");
    const Answered none = post(kTasks, R"({"queue":"none")" + wrong, "mail");
    EXPECT_EQ(none.response.status, others.response.status);
    EXPECT_EQ(none.response.body, others.response.body);
    const Answered two = post(kTasks, "[" + good + R"(,{"queue":"none")" + wrong + "]", "mail");
    EXPECT_EQ(two.response.body, others.response.body);
  }
  EXPECT_EQ(post(kTasks, R"({"queue":"none","type":"t"})").status(), 400U) << "of all queues";
  EXPECT_EQ(post(kTasks, "[" + good + R"(,{"queue":"other","type":"t"}])", "mail").status(), 403U);
  EXPECT_EQ(number("SELECT COUNT(*) FROM task"), 2U);
}

TEST_F(SubmitRouteTest, AnIdElsewhereIsNone) {
  const std::string id = put("other");
  EXPECT_EQ(get("/api/v1/tasks/" + id, "reader").status(), 200U);
  const Answered hidden = get("/api/v1/tasks/" + id, "mail");
  EXPECT_EQ(hidden.status(), 404U);
  observer_.execute("DELETE FROM task");
  const Answered gone = get("/api/v1/tasks/" + id, "reader");
  EXPECT_EQ(gone.status(), 404U);
  EXPECT_EQ(gone.response.body, hidden.response.body);
  EXPECT_EQ(get("/api/v1/tasks/no%20id").status(), 400U);
}

TEST_F(SubmitRouteTest, HealthNeedsNoToken) {
  EXPECT_EQ(get("/health/live", "").status(), 200U);
  EXPECT_EQ(get("/health/ready", "").status(), 200U);
  EXPECT_EQ(get("/api/v1/tasks/x", "").status(), 401U);
}

// A large body is parsed by the pool.
TEST_F(SubmitRouteTest, ALargeOneToo) {
  const std::string payload(3'000'000, 'x');
  const Answered made = post(kTasks, R"({"queue":"mail","type":"t","payload":")" + payload + "\"}");
  ASSERT_EQ(made.status(), 201U) << made;
  const Answered bytes = get(made.field("location") + "/payload");
  EXPECT_EQ(bytes.status(), 200U);
  EXPECT_TRUE(bytes.response.body == payload);
  EXPECT_EQ(bytes.response.type, "application/octet-stream");
  EXPECT_EQ(bytes.field("content-disposition").rfind("attachment", 0), 0U);
  EXPECT_EQ(post(kTasks, std::string(100'000, '[')).status(), 400U);
}

// Permissions apply to the queue that receives the task, not to the named one.
TEST_F(SubmitRouteTest, TheQueueAfterRoutingCounts) {
  queue::set_route(observer_, queue::find_queue(observer_, "mail"), queue::pattern_of("r"),
                   *queue::find_queue(observer_, "other"));
  const std::string routed = R"({"queue":"mail","type":"r"})";
  EXPECT_EQ(post(kTasks, routed, "mail").status(), 403U);
  const Answered made = post(kTasks, routed);
  ASSERT_EQ(made.status(), 201U) << made;
  EXPECT_EQ(get(made.field("location")).document()["queue"], "other");
}

TEST_F(SubmitRouteTest, AMoveNeedsBothQueues) {
  const std::string id = put();
  const std::string move = "/api/v1/tasks/" + id + "/move";
  EXPECT_EQ(post(move, R"({"to":"other"})", "mail").status(), 404U);
  EXPECT_EQ(post(move, R"({"to":"ordered"})").status(), 409U);
  EXPECT_EQ(post(move, R"({"to":"mail"})").status(), 400U);
  EXPECT_EQ(post(move, R"({"to":"other"})").status(), 200U);
  EXPECT_EQ(get("/api/v1/tasks/" + id).status(), 404U);
  const std::string keyed = put("mail", R"(,"unique_key":"k")");
  EXPECT_EQ(post("/api/v1/tasks/" + keyed + "/move", R"({"to":"other"})").status(), 409U);
}

// A caller may have a name that a proxy took from a client.
TEST_F(SubmitRouteTest, LogLinesCannotBeForged) {
  const std::string task = "/api/v1/tasks/" + put();
  Application named(service(), [](const http::Head&) {
    const access::Reach all{true, {}};
    return access::Access::Verdict{
        access::Caller("ann\n2026-11-24T04:00:00.000Z ERROR allot forged=1", {all, all, all}),
        200,
        {}};
  });
  testing::internal::CaptureStderr();
  EXPECT_EQ(api::ask(named, {"POST", task + "/cancel", R"({"reason":"x\ny"})"}).status(), 200U);
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 1) << log;
  EXPECT_NE(log.find("gateway.action actor=\"ann\\n2026"), std::string::npos) << log;
  EXPECT_NE(log.find(" action=cancel subject="), std::string::npos) << log;
}

}  // namespace
}  // namespace allot::gateway::api
