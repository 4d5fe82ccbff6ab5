// SPDX-License-Identifier: Apache-2.0
// Schedules: requests that exist only over HTTP; the rest is in tests/contract.
#include <gtest/gtest.h>

#include "db/gateway/fixture.h"

namespace allot::gateway::api {
namespace {

class ScheduleRouteTest : public GatewayTest {
 protected:
  Answered put_schedule(const std::string& name, const json& words,
                        const std::string& token = "all") {
    Asked asked{"PUT", "/api/v1/schedules/" + name, words.dump()};
    asked.token = token;
    return ask(asked);
  }
  Answered remove(const std::string& name, const std::string& token) {
    Asked asked{"DELETE", "/api/v1/schedules/" + name};
    asked.token = token;
    return ask(asked);
  }
  static json words(const std::string& queue = "mail") {
    return {{"expression", "0 3 * * *"}, {"queue", queue}, {"type", "t"}};
  }
};

TEST_F(ScheduleRouteTest, APayloadMayBeAnyBytes) {
  json wanted = words();
  wanted["payload_base64"] = "/wBh";
  ASSERT_EQ(put_schedule("binary", wanted).status(), 201U);
  wanted["payload_base64"] = "YQ==";
  EXPECT_EQ(put_schedule("binary", wanted).status(), 200U);
  const json text = get("/api/v1/schedules/binary").document();
  EXPECT_EQ(text["payload"], "a");
  EXPECT_FALSE(text.contains("payload_base64"));
  for (const char* wrong : {"YQ", "YQ==\n", "%"}) {
    wanted["payload_base64"] = wrong;
    EXPECT_EQ(put_schedule("binary", wanted).named(), "payload_base64") << wrong;
  }
  wanted["payload_base64"] = "YQ==";
  wanted["payload"] = "a";
  EXPECT_EQ(put_schedule("binary", wanted).named(), "payload_base64");
}

TEST_F(ScheduleRouteTest, InvalidFieldIsNamedAndNoScheduleIsMade) {
  const std::vector<std::pair<const char*, json>> wrong{{"expression", "61 * * * *"},
                                                        {"expression", ""},
                                                        {"expression", "0 0 31 2 *"},
                                                        {"zone", "Mars/Olympus"},
                                                        {"zone", "../etc/passwd"},
                                                        {"late", "never"},
                                                        {"overlap", "perhaps"},
                                                        {"late_after", "soon"},
                                                        {"jitter", "25h"},
                                                        {"catch_up", 0},
                                                        {"prio", 4},
                                                        {"type", ""},
                                                        {"unique_for", "x"},
                                                        {"delay", 3}};
  for (const auto& [name, value] : wrong) {
    json body = words();
    body[name] = value;
    const Answered refused = put_schedule("nightly", body);
    EXPECT_EQ(refused.status(), 400U) << name << value << refused;
    EXPECT_EQ(refused.named(), name) << value << refused;
  }
  EXPECT_EQ(put_schedule("a%2Fb", words()).status(), 400U);
  json keyed = words();
  keyed["partition_key"] = "p";
  EXPECT_EQ(put_schedule("nightly", keyed).status(), 400U) << "queue mail is spread";
  EXPECT_EQ(number("SELECT COUNT(*) FROM schedule"), 0U);
}

TEST_F(ScheduleRouteTest, ItWantsTheRolesForTheQueue) {
  EXPECT_EQ(put_schedule("a", words(), "operator").status(), 403U) << "it may not submit";
  EXPECT_EQ(put_schedule("a", words(), "submitter").status(), 403U);
  EXPECT_EQ(put_schedule("a", words("other"), "mail").status(), 404U);
  EXPECT_EQ(number("SELECT COUNT(*) FROM schedule"), 0U);
  ASSERT_EQ(put_schedule("theirs", words("other")).status(), 201U);
  EXPECT_EQ(put_schedule("theirs", words(), "mail").status(), 404U) << "it would be taken away";
  EXPECT_EQ(remove("theirs", "mail").status(), 404U);
  EXPECT_EQ(get("/api/v1/schedules/theirs").document()["queue"], "other");
  EXPECT_EQ(put_schedule("ours", words(), "mail").status(), 201U);
}

TEST_F(ScheduleRouteTest, WithoutACalendarNothingIsMade) {
  Service settings = service();
  settings.calendar = {"/nonexistent/program"};
  Application without(settings, authorize);
  const Answered refused = api::ask(without, {"PUT", "/api/v1/schedules/a", words().dump()});
  EXPECT_EQ(refused.status(), 500U) << refused;
  EXPECT_EQ(number("SELECT COUNT(*) FROM schedule"), 0U);
}

}  // namespace
}  // namespace allot::gateway::api
