// SPDX-License-Identifier: Apache-2.0
// Each action of the dashboard works for a form of this host by a permitted caller, and does
// nothing for any other request (S87). Iterates over the table of actions, so that a new one is
// tested.
#include "db/gateway/site.h"

#include <map>

#include "queue/locks/lock_store.h"
#include "queue/schedules/schedule_store.h"

namespace allot::gateway::ui {
namespace {

const std::string kForm = "application/x-www-form-urlencoded";

class ActionsTest : public SiteTest {
 protected:
  ActionsTest() {
    queue::ensure_lock(observer_, "billing", 2);
    queue::ScheduleSpec spec;
    spec.name = "nightly";
    spec.expression = "0 3 * * *";
    spec.queue = "mail";
    spec.type = "t";
    queue::put_schedule(observer_, spec, queue::database_now(observer_) + std::chrono::hours(1));
  }

  std::string put_dead() {
    const std::string id = put();
    EXPECT_EQ(api::GatewayTest::post("/api/v1/tasks/" + id + "/cancel").status(), 200U);
    return id;
  }
  std::string begin_bulk() {
    const std::string path = "/api/v1/queues/mail/dead/retry";
    const json count = api::GatewayTest::post(path).document();
    return api::GatewayTest::post(path, json{{"token", count["token"]}}.dump())
        .document()["action"]
        .dump();
  }
  // Address of an action on an existing object, in a state in which it is possible.
  std::string address_of(const Action& action) {
    std::string path(action.path);
    const bool of_dead = path.ends_with("/retry") || path.ends_with("/discard");
    const std::map<std::string, std::string> names{
        {"{queue}", "mail"},
        {"{schedule}", "nightly"},
        {"{lock}", "billing"},
        {"{id}", path.find("{id}") == path.npos ? ""
                 : of_dead                      ? put_dead()
                                                : put()},
        {"{action}", path.find("{action}") == path.npos ? "" : begin_bulk()}};
    for (const auto& [name, value] : names) {
      if (const std::size_t at = path.find(name); at != path.npos) {
        path.replace(at, name.size(), value);
      }
    }
    return "/ui/" + path;
  }
  // Data passed on by the confirmation: the token of the count, or the payload.
  std::string counted(const std::string& address) {
    if (address.ends_with("/again")) return "payload=x";
    const std::string html = page(address).response.body;
    const std::string before = "name=\"token\" value=\"";
    const std::size_t at = html.find(before);
    if (at == html.npos) return {};
    const std::size_t begin = at + before.size();
    return "token=" + api::escaped(html.substr(begin, html.find('"', begin) - begin));
  }
  // Everything that actions change.
  std::string state() {
    std::string text;
    for (const char* table : {"task", "task_dead", "task_cancel", "queue_pause", "schedule",
                              "schedule_tick", "named_lock", "bulk_action"}) {
      auto results = observer_.execute(std::string("CHECKSUM TABLE ") + table);
      text += std::string(results.front().one().text(1)) + " ";
    }
    return text;
  }
};

TEST_F(ActionsTest, AreRefusedWithoutRoleFormTokenOrOrigin) {
  for (const Action& action : actions()) {
    const std::string address = address_of(action);
    const std::string more = counted(address);
    const std::string before = state();
    const std::map<std::string, std::pair<unsigned, Form>> wrong{
        {"without the role", {403, {"reader", "http://localhost", "right", kForm, more}}},
        {"without a form token", {403, {"all", "http://localhost", "", kForm, more}}},
        {"with another form token",
         {403, {"all", "http://localhost", std::string(64, '0'), kForm, more}}},
        {"without an origin", {403, {"all", "", "right", kForm, more}}},
        {"of another site", {403, {"all", "http://evil.example", "right", kForm, more}}},
        {"of a file", {403, {"all", "null", "right", kForm, more}}},
        {"as JSON", {415, {"all", "http://localhost", "right", "application/json", more}}},
        {"without a token of this gateway",
         {303, {"nobody", "http://localhost", "", kForm, more}}}};
    for (const auto& [how, tried] : wrong) {
      const auto answered = post(address, tried.second);
      EXPECT_EQ(answered.status(), tried.first) << action.path << " " << how << ": " << answered;
    }
    EXPECT_EQ(page(address, "reader").status(), 403U) << action.path;
    EXPECT_EQ(state(), before) << action.path;
    const auto done = post(address, {"all", "http://localhost", "right", kForm, more});
    EXPECT_EQ(done.status(), 303U) << action.path << ": " << done;
    EXPECT_NE(done.field("location").find("note="), std::string::npos) << action.path;
  }
}

TEST_F(ActionsTest, AreLookedAtWithoutAChange) {
  for (const Action& action : actions()) {
    const std::string address = address_of(action);
    const std::string before = state();
    const auto answered = page(address);
    EXPECT_EQ(answered.status(), 200U) << action.path << ": " << answered;
    EXPECT_NE(answered.response.body.find("allot "), std::string::npos) << "its command";
    EXPECT_EQ(state(), before) << action.path;
  }
}

}  // namespace
}  // namespace allot::gateway::ui
