// SPDX-License-Identifier: Apache-2.0
// Health answers for a load balancer, and log lines of requests that changed something.
#include <gtest/gtest.h>

#include <algorithm>

#include "db/gateway/fixture.h"

namespace allot::gateway::api {
namespace {

constexpr const char* kReady = "/health/ready";

class HealthTest : public GatewayTest {
 protected:
  // Breaks its schema.
  HealthTest()
      : GatewayTest(support::Database::shared(), support::Database::shared().make_database()) {}

  // An application that has no connection yet.
  Answered ask_anew(const Service& settings, const Asked& asked) {
    Application fresh(settings, authorize);
    return api::ask(fresh, asked);
  }

  // No token is required, so the answer reveals nothing about the database.
  static void expect_unready(const Answered& answered, const std::string& secret) {
    EXPECT_EQ(answered.status(), 503U) << answered;
    EXPECT_EQ(answered.kind(), "unavailable");
    EXPECT_FALSE(answered.field("retry-after").empty());
    EXPECT_EQ(answered.detail().find(secret), std::string::npos) << answered;
  }
};

TEST_F(HealthTest, AnOldSchemaIsNotReady) {
  EXPECT_EQ(get(kReady, "").status(), 200U);
  observer_.execute("DELETE FROM allot_schema");
  expect_unready(get(kReady, ""), "version");
  expect_unready(ask_anew(service(), {"GET", kReady}), "version");
  const Answered other = ask_anew(service(), {"GET", "/api/v1/queues"});
  EXPECT_EQ(other.status(), 500U) << other;
  EXPECT_NE(other.detail().find("allot migrate"), std::string::npos) << other;
}

TEST_F(HealthTest, ADatabaseWithoutASchemaIsNotReady) {
  observer_.execute("DROP TABLE allot_schema");
  expect_unready(get(kReady, ""), "schema yet");
  expect_unready(ask_anew(service(), {"GET", kReady}), "schema yet");
}

TEST_F(HealthTest, ASchemaOfANewerVersionIsReadyAndOneOfAnotherOriginIsNot) {
  observer_.execute(
      "INSERT INTO allot_schema VALUES (9999, '9999_made_up', 1, UTC_TIMESTAMP(6), 'x')");
  EXPECT_EQ(get(kReady, "").status(), 200U);
  observer_.execute("UPDATE allot_schema SET checksum = checksum + 1 WHERE version = 1");
  expect_unready(get(kReady, ""), "pre-release");
}

TEST_F(HealthTest, AnAbsentDatabaseOrAccountIsNotReady) {
  Service nowhere = service();
  nowhere.database.socket = "/nonexistent/socket";
  expect_unready(ask_anew(nowhere, {"GET", kReady}), "nonexistent");
  Service unknown = service();
  unknown.database.user = "nobody_of_that_name";
  unknown.database.password = "wrong";
  expect_unready(ask_anew(unknown, {"GET", kReady}), "nobody_of_that_name");
  Service missing = service();
  missing.database.database = "no_such_database";
  expect_unready(ask_anew(missing, {"GET", kReady}), "no_such_database");
}

using SubmissionLogTest = GatewayTest;

// Actor, action and target, without the submitted data.
TEST_F(SubmissionLogTest, EachSubmissionIsOneLineOfTheLogWithoutItsPayload) {
  testing::internal::CaptureStderr();
  const Answered one = post("/api/v1/tasks", R"({"queue":"mail","type":"t","payload":"hidden"})");
  const Answered three = post("/api/v1/tasks", R"([{"queue":"mail","type":"t","payload":"hidden"},
      {"queue":"mail","type":"t"},{"queue":"other","type":"t","unique_key":"k"}])");
  const Answered existed =
      post("/api/v1/tasks", R"({"queue":"other","type":"t","unique_key":"k","payload":"hidden"})");
  const std::string log = testing::internal::GetCapturedStderr();
  ASSERT_EQ(one.status(), 201U) << one;
  ASSERT_EQ(three.status(), 201U) << three;
  EXPECT_EQ(existed.status(), 200U) << existed;
  const auto id = [](const json& task) { return task["id"].get<std::string>(); };
  EXPECT_NE(log.find(" INFO  "), std::string::npos) << log;
  EXPECT_NE(log.find("gateway.action actor=all action=submit subject=" + id(one.document())),
            std::string::npos)
      << log;
  EXPECT_NE(log.find("subject=\"" + id(three.document()[0]) + " and 2 more\""), std::string::npos)
      << log;
  EXPECT_EQ(log.find("hidden"), std::string::npos) << log;
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 2) << log;
}

}  // namespace
}  // namespace allot::gateway::api
