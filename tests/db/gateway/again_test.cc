// SPDX-License-Identifier: Apache-2.0
// Submits a task again with another payload: over HTTP, and by the form of its page.
#include "db/gateway/site.h"
#include "gateway/ui/html.h"

namespace allot::gateway::ui {
namespace {

const std::string kSigned = std::string(api::kSignedPayload) + std::string(64, 'a') + "\n{}";

class AgainTest : public SiteTest {
 protected:
  // A task with this payload; returns its id.
  std::string put_payload(const std::string& payload) {
    return put("mail", ",\"payload\":" + json(payload).dump());
  }
  api::Answered again(const std::string& id, const json& body, const std::string& token = "all") {
    return api::GatewayTest::post("/api/v1/tasks/" + id + "/again", body.dump(), token);
  }
  json task(const std::string& id) { return get("/api/v1/tasks/" + id).document(); }
  std::string form_of(const std::string& id) { return "/ui/tasks/" + id + "/again"; }
  bool is_offered(const std::string& id, const std::string& token = "all") {
    return page("/ui/tasks/" + id, token).response.body.find("/again\"") != std::string::npos;
  }
};

TEST_F(AgainTest, TheNewTaskIsLikeTheFirstWithAnotherPayload) {
  const std::string id = put(
      "mail",
      R"(,"payload":"old","prio":2,"max_attempts":7,"max_losses":3,"label":"l","time_limit":"5s",)"
      R"("traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",)"
      R"("unique_key":"k","delay":"2h")");
  const json first = task(id);
  const auto answered = again(id, {{"payload", "new"}, {"reason", "wrong address"}});
  ASSERT_EQ(answered.status(), 201U) << answered;
  const std::string made = answered.document()["id"];
  EXPECT_EQ(answered.field("location"), "/api/v1/tasks/" + made);
  const json second = task(made);
  EXPECT_EQ(second["payload"], "new");
  for (const char* same : {"queue", "type", "prio", "max_attempts", "max_losses", "label",
                           "time_limit_ms", "traceparent"}) {
    EXPECT_EQ(second[same], first[same]) << same;
    EXPECT_FALSE(first[same].is_null()) << same;
  }
  EXPECT_TRUE(second["unique_key"].is_null());
  EXPECT_LT(second["due_at"], first["due_at"]);
  EXPECT_EQ(task(id), first);
  const json entry = get("/api/v1/audit?subject=task&name=" + id).document()["items"][0];
  EXPECT_EQ(entry["action"], "submit_again");
  EXPECT_EQ(entry["detail"], "as " + made);
  EXPECT_EQ(entry["reason"], "wrong address");
  EXPECT_EQ(entry["queue"], "mail");
}

TEST_F(AgainTest, NeedsBothRolesForTheQueue) {
  const std::string id = put_payload("x");
  for (const char* token : {"reader", "submitter", "operator"}) {
    EXPECT_EQ(again(id, {{"payload", "y"}}, token).status(), 403U) << token;
  }
  const std::string other = put("other");
  EXPECT_EQ(again(other, {{"payload", "y"}}, "mail").status(), 404U);
  EXPECT_EQ(again(id, {{"payload", "y"}}, "mail").status(), 201U);
  EXPECT_EQ(number("SELECT COUNT(*) FROM task"), 3U);
}

TEST_F(AgainTest, SignedPayloadsAreRefused) {
  const std::string id = put_payload(kSigned);
  const auto answered = again(id, {{"payload", "y"}});
  EXPECT_EQ(answered.status(), 409U) << answered;
  EXPECT_NE(answered.detail().find("signed"), std::string::npos);
  EXPECT_FALSE(is_offered(id));
  const auto form = page(form_of(id));
  EXPECT_EQ(form.status(), 409U);
  EXPECT_NE(form.response.body.find("signed"), std::string::npos);
  EXPECT_EQ(post(form_of(id), {.more = "payload=y"}).status(), 409U);
  EXPECT_EQ(number("SELECT COUNT(*) FROM task"), 1U);
}

TEST_F(AgainTest, AnOrderedQueueNeedsThePartitionKey) {
  const std::string id = put("ordered", R"(,"partition_key":"ann","payload":"x")");
  const auto refused = again(id, {{"payload", "y"}});
  EXPECT_EQ(refused.status(), 400U) << refused;
  EXPECT_NE(refused.detail().find("partition_key"), std::string::npos);
  const auto made = again(id, {{"payload", "y"}, {"partition_key", "ann"}});
  ASSERT_EQ(made.status(), 201U) << made;
  EXPECT_EQ(task(made.document()["id"])["partition"], task(id)["partition"]);
}

// The payload goes to the form and back byte for byte.
TEST_F(AgainTest, AFormKeepsThePayload) {
  const std::string payload = "\n\n <b>&amp;\t\"'ä</textarea>\n" + std::string(20'000, '%') + "\n";
  const std::string id = put_payload(payload);
  EXPECT_TRUE(is_offered(id));
  const auto form = page(form_of(id));
  EXPECT_EQ(form.status(), 200U);
  EXPECT_NE(form.response.body.find(">\n" + escaped_html(payload) + "</textarea>"),
            std::string::npos)
      << form;
  EXPECT_NE(form.response.body.find("allot submit mail t --file payload"), std::string::npos);
  std::string sent;
  for (const char c : payload) sent += c == '\n' ? "\r\n" : std::string(1, c);
  const auto done =
      post(form_of(id), {.more = "reason=typo&partition_key=&payload=" + api::escaped(sent)});
  ASSERT_EQ(done.status(), 303U) << done;
  const std::string location = done.field("location");
  const std::string made = location.substr(10, location.find('?') - 10);
  EXPECT_EQ(location, "/ui/tasks/" + made + "?note=again");
  EXPECT_NE(made, id);
  EXPECT_EQ(get("/api/v1/tasks/" + made + "/payload").response.body, payload);
}

TEST_F(AgainTest, AnEmptyPayloadIsSubmittedAndAMissingOneIsNot) {
  const std::string id = put_payload("x");
  EXPECT_EQ(post(form_of(id), {.more = "reason=r"}).status(), 400U);
  const auto done = post(form_of(id), {.more = "payload="});
  ASSERT_EQ(done.status(), 303U) << done;
  EXPECT_EQ(number("SELECT COUNT(*) FROM task WHERE payload = ''"), 1U);
}

TEST_F(AgainTest, IsOfferedOnlyForTextOfAtMost64KiB) {
  for (const std::string& payload :
       {std::string("a\0b", 3), std::string("a\r\nb"), std::string("\xef\xbf\xbd"),
        std::string("\xe2\x80\xae"), std::string((64 << 10) + 1, 'x')}) {
    const std::string id = put_payload(payload);
    EXPECT_FALSE(is_offered(id)) << escaped_html(payload).substr(0, 20);
    EXPECT_EQ(page(form_of(id)).status(), 409U) << escaped_html(payload).substr(0, 20);
  }
  const std::string bytes = put("mail", R"(,"payload_base64":"/w==")");
  EXPECT_FALSE(is_offered(bytes));
  EXPECT_EQ(page(form_of(bytes)).status(), 409U);
  for (const std::string& payload : {std::string(), std::string(64 << 10, 'x')}) {
    const std::string id = put_payload(payload);
    EXPECT_TRUE(is_offered(id));
    EXPECT_FALSE(is_offered(id, "reader"));
    EXPECT_EQ(page(form_of(id)).status(), 200U);
  }
}

}  // namespace
}  // namespace allot::gateway::ui
