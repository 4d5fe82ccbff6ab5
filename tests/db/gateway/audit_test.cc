// SPDX-License-Identifier: Apache-2.0
// Every route that operates leaves an entry of the audit (S89), and a caller sees the entries of
// its queues.
#include "db/gateway/examples.h"
#include "queue/findings/finding.h"
#include "queue/locks/lock_store.h"
#include "queue/views/audit_entries.h"

namespace allot::gateway::api {
namespace {

class AuditTest : public ExamplesTest {
 protected:
  json entries(const std::string& query = {}, const std::string& token = "all") {
    const Answered answered = get("/api/v1/audit?limit=1000" + query, token);
    EXPECT_EQ(answered.status(), 200U) << answered;
    return answered.document()["items"];
  }
  void put_report() {
    EXPECT_EQ(post("/api/v1/tasks", R"({"queue":"mail","type":"report.x"})").status(), 201U);
  }
  // Fields that the route needs in addition to its example.
  Asked ready(const Route& route) {
    Asked asked = example_of(route);
    if (route.name == "break_lock") {
      observer_.execute(
          "UPDATE named_lock SET state = 'LOCKED', lock_by = 1, lock_host = 'h', lock_pid = 1,"
          " taken_at = UTC_TIMESTAMP(6), expire_at = UTC_TIMESTAMP(6) + INTERVAL 1 HOUR");
    }
    if (route.name == "move_waiting") put_report();
    if (route.name == "resume") post("/api/v1/queues/mail/pause");
    if (route.name == "remove_rate")
      ask({"PUT", "/api/v1/queues/mail/rate", R"({"per_second":1})"});
    if (route.name == "resume_schedule") post("/api/v1/schedules/nightly/pause");
    if (route.name == "resize")
      observer_.execute("UPDATE queue SET partitions = 3 WHERE name = 'mail'");
    if (route.name == "set_max_running") {
      observer_.execute("UPDATE queue SET max_running = 3 WHERE name = 'some'");
    }
    if (route.name == "retry_all_dead" || route.name == "discard_all_dead") {
      json body = json::parse(asked.body);
      body["token"] = ask(asked).document()["token"];
      asked.body = body.dump();
    }
    return asked;
  }
};

TEST_F(AuditTest, EveryRouteThatOperatesLeavesAnEntry) {
  std::size_t operating = 0;
  for (const Route& route : routes()) {
    const bool operates = route.writes() && route.role == access::Role::kOperate;
    if (!operates) {
      EXPECT_TRUE(!route.writes() || route.name == "submit") << text_of(route);
      continue;
    }
    const Asked asked = ready(route);
    const std::size_t before = entries().size();
    const Answered answered = ask(asked);
    EXPECT_LT(answered.status(), 300U) << text_of(route) << answered;
    const json after = entries();
    ASSERT_GT(after.size(), before) << text_of(route)
                                    << " leaves no entry: send its statements "
                                       "by queue::act()";
    EXPECT_EQ(after[0]["actor"], "all") << text_of(route);
    EXPECT_EQ(after[0]["source"], "gateway") << text_of(route);
    EXPECT_EQ(after[0]["reason"], "maintenance") << text_of(route);
    EXPECT_EQ(after[0]["queue"].is_null(), route.everywhere) << text_of(route) << after[0];
    ++operating;
  }
  EXPECT_GT(operating, 20U);
}

TEST_F(AuditTest, ARequestThatOperatesNotLeavesNone) {
  post("/api/v1/queues/mail/pause");
  const std::size_t before = entries().size();
  put();
  get("/api/v1/queues");
  post("/api/v1/queues/mail/dead/retry");  // counts
  EXPECT_EQ(post("/api/v1/queues/none/pause").status(), 404U);
  EXPECT_EQ(post("/api/v1/queues/mail/resume", "{}", "reader").status(), 403U);
  EXPECT_EQ(entries().size(), before);
}

TEST_F(AuditTest, ACallerSeesTheEntriesOfItsQueues) {
  post("/api/v1/queues/mail/pause");
  post("/api/v1/queues/other/pause");
  post("/api/v1/locks/billing/resize", R"({"slots":3})");
  EXPECT_EQ(entries().size(), 3U);
  const json seen = entries("", "mail");
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(seen[0]["name"], "mail");
  EXPECT_EQ(entries("&queue=other", "mail").size(), 0U);
  EXPECT_EQ(entries("&subject=queue&name=other", "mail").size(), 0U);
}

TEST_F(AuditTest, TheOtherQueueOfAMoveIsHiddenFromWhoMayNotReadIt) {
  put_report();
  EXPECT_EQ(post("/api/v1/queues/mail/move", R"({"to":"other"})").status(), 200U);
  EXPECT_EQ(entries()[0]["to_queue"], "other");
  EXPECT_EQ(entries()[0]["tasks"], 1);
  const json seen = entries("", "mail");
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_TRUE(seen[0]["to_queue"].is_null());
  EXPECT_EQ(seen.dump().find("other"), std::string::npos);
}

// S90: the stored findings, and nothing else.
TEST_F(AuditTest, ACallerSeesTheFindingsOfItsQueues) {
  EXPECT_TRUE(get("/api/v1/findings").document()["checked_at"].is_null());
  queue::store_findings(observer_, {{queue::Level::kWarn, "durability", "off", "turn it on"},
                                    {queue::Level::kFail, "lease rows", "missing", "", "mail"},
                                    {queue::Level::kWarn, "queue other", "unserved", "", "other"}});
  observer_.execute("DELETE FROM q_lock_table");  // a check would see it
  const json all = get("/api/v1/findings").document();
  ASSERT_EQ(all["items"].size(), 3U);
  EXPECT_EQ(all["items"][0]["fix"], "turn it on");
  EXPECT_TRUE(all["checked_at"].is_string());
  const json seen = get("/api/v1/findings", "mail").document()["items"];
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(seen[0]["queue"], "mail");
  EXPECT_EQ(seen[0]["level"], "fail");
}

TEST_F(AuditTest, GoesByPages) {
  for (int i = 0; i < 3; ++i) post("/api/v1/queues/mail/pause");
  const json first = get("/api/v1/audit?limit=2").document();
  ASSERT_EQ(first["items"].size(), 2U);
  const json last =
      get("/api/v1/audit?limit=2&cursor=" + first["next"].get<std::string>()).document();
  EXPECT_EQ(last["items"].size(), 1U);
  EXPECT_TRUE(last["next"].is_null());
  EXPECT_EQ(get("/api/v1/audit?cursor=x").status(), 400U);
}

TEST_F(AuditTest, AReasonHasAtMost255Bytes) {
  const std::string body = json{{"reason", std::string(256, 'r')}}.dump();
  const Answered refused = post("/api/v1/queues/mail/resume", body);
  EXPECT_EQ(refused.status(), 400U);
  EXPECT_EQ(refused.named(), "reason");
}

}  // namespace
}  // namespace allot::gateway::api
