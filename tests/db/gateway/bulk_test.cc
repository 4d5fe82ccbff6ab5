// SPDX-License-Identifier: Apache-2.0
// Bulk actions over HTTP: a count, then the same request with its token.
#include "db/gateway/fixture.h"
#include "db/gateway/schema.h"
#include "queue/operate/bulk_work.h"

namespace allot::gateway::api {
namespace {

class BulkTest : public GatewayTest {
 protected:
  void put_dead(const std::string& queue, int count) {
    for (int i = 0; i < count; ++i) {
      ASSERT_EQ(post("/api/v1/tasks/" + put(queue) + "/cancel").status(), 200U);
    }
  }
  Answered begin(const std::string& path, json body = json::object()) {
    body["token"] = post(path, body).document()["token"];
    return post(path, body.dump());
  }
  Answered post(const std::string& path, const json& body) { return post(path, body.dump()); }
  using GatewayTest::post;
};

TEST_F(BulkTest, FirstACountThenTheAction) {
  put_dead("mail", 5);
  const std::string path = "/api/v1/queues/mail/dead/retry";
  const Answered counted = post(path);
  ASSERT_EQ(counted.status(), 200U) << counted;
  EXPECT_EQ(counted.document()["tasks"], 5);
  EXPECT_EQ(counted.document()["tasks_at_least"], false);
  EXPECT_EQ(number("SELECT COUNT(*) FROM task_dead"), 5U) << "a count changes nothing";

  const json with_token{{"token", counted.document()["token"]}};
  const Answered begun = post(path, with_token);
  ASSERT_EQ(begun.status(), 202U) << begun;
  const json document = json::parse(openapi("", false));
  const json schema{{"$ref", "#/components/schemas/BulkAction"}};
  EXPECT_EQ(fault_of(document, schema, begun.document()), "");
  EXPECT_EQ(begun.document()["requested_by"], "all");
  const std::string address = begun.field("location");
  EXPECT_EQ(address, "/api/v1/bulk/" + begun.document()["action"].dump());
  EXPECT_EQ(post(path, with_token).field("location"), address) << "after a lost reply";

  (void)queue::work_bulk(observer_, begun.document()["action"]);
  EXPECT_EQ(number("SELECT COUNT(*) FROM task"), 5U);
  const Answered shown = get(address);
  EXPECT_EQ(shown.document()["done"], 5);
  const json list = get("/api/v1/bulk").document();
  ASSERT_EQ(list["items"].size(), 1U);
  EXPECT_EQ(list["items"][0], shown.document());
}

TEST_F(BulkTest, OneCanBeStopped) {
  put_dead("mail", 3);
  const std::string address =
      begin("/api/v1/queues/mail/dead/discard", {{"rate", 1}}).field("location");
  ASSERT_NE(address, "");
  const Answered stopped = post(address + "/stop");
  ASSERT_EQ(stopped.status(), 200U) << stopped;
  EXPECT_EQ(stopped.document()["state"], "stopped");
  EXPECT_EQ(stopped.document()["stopped_by"], "all");
  EXPECT_EQ(number("SELECT COUNT(*) FROM task_dead"), 3U);
  EXPECT_EQ(post(address + "/stop").status(), 409U);
}

TEST_F(BulkTest, ATokenBelongsToOneCount) {
  put_dead("mail", 3);
  const std::string retry = "/api/v1/queues/mail/dead/retry";
  const json token{{"token", post(retry).document()["token"]}};
  json other_type = token;
  other_type["type"] = "x";
  for (const Answered& refused :
       {post("/api/v1/queues/mail/dead/discard", token),
        post("/api/v1/queues/other/dead/retry", token), post(retry, other_type),
        post(retry, json{{"token", "x"}}), post(retry, json{{"token", std::string(5'000, 'a')}})}) {
    EXPECT_EQ(refused.status(), 400U) << refused;
    EXPECT_EQ(refused.named(), "token") << refused;
  }
  EXPECT_EQ(number("SELECT COUNT(*) FROM bulk_action"), 0U);
}

TEST_F(BulkTest, ACallerSeesThoseOfHisQueues) {
  put_dead("mail", 1);
  put_dead("other", 1);
  ASSERT_EQ(begin("/api/v1/queues/mail/dead/retry").status(), 202U);
  ASSERT_EQ(begin("/api/v1/queues/other/dead/retry").status(), 202U);
  const json own = get("/api/v1/bulk", "mail").document();
  ASSERT_EQ(own["items"].size(), 1U);
  EXPECT_EQ(own["items"][0]["queue"], "mail");
}

TEST_F(BulkTest, PagesHaveEachOnce) {
  put_dead("mail", 1);
  for (int i = 0; i < 5; ++i) {
    ASSERT_EQ(begin("/api/v1/queues/mail/dead/retry").status(), 202U);
  }
  std::vector<std::uint64_t> seen;
  for (std::string next; seen.size() <= 5;) {
    const json page =
        get("/api/v1/bulk?limit=2" + (next.empty() ? next : "&cursor=" + next)).document();
    for (const json& item : page["items"]) seen.push_back(item["action"]);
    if (page["next"].is_null()) break;
    next = page["next"];
  }
  ASSERT_EQ(seen.size(), 5U);
  for (std::size_t i = 1; i < seen.size(); ++i) EXPECT_EQ(seen[i], seen[i - 1] - 1);
  EXPECT_EQ(get("/api/v1/bulk?cursor=abc").named(), "cursor");
}

}  // namespace
}  // namespace allot::gateway::api
