// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "db/gateway/fixture.h"
#include "json/base64.h"
#include "queue/minutes/instances.h"
#include "queue/notices/notice.h"
#include "queue/verbs/duty.h"

namespace allot::gateway::api {
namespace {

class ListTest : public GatewayTest {
 protected:
  void put_many(int count, const std::string& type) {
    std::string body = "[";
    for (int i = 0; i < count; ++i) {
      body += (i == 0 ? "" : ",") + (R"({"queue":"mail","type":")" + type + "\"}");
    }
    ASSERT_EQ(post("/api/v1/tasks", body + "]").status(), 201U);
  }
  // Follows a list to its end; the ids, in its order.
  std::vector<std::string> all(const std::string& target) {
    std::vector<std::string> ids;
    std::string next;
    do {
      const char* mark = target.find('?') == std::string::npos ? "?" : "&";
      const Answered page = get(target + (next.empty() ? "" : mark + ("cursor=" + next)));
      EXPECT_EQ(page.status(), 200U) << page;
      if (page.status() != 200) break;
      const json document = page.document();
      for (const json& item : document["items"]) ids.push_back(item["task"]);
      next = document["next"].is_null() ? "" : document["next"].get<std::string>();
    } while (!next.empty());
    return ids;
  }
};

TEST_F(ListTest, PagesHaveEachTaskOnce) {
  put_many(25, "a");
  const auto whole = all("/api/v1/queues/mail/tasks?limit=100");
  ASSERT_EQ(whole.size(), 25U);
  for (const char* limit : {"1", "7", "25"}) {
    EXPECT_EQ(all(std::string("/api/v1/queues/mail/tasks?limit=") + limit), whole) << limit;
  }
}

TEST_F(ListTest, DeadTasksToo) {
  put_many(7, "a");
  auto ids = all("/api/v1/queues/mail/tasks");
  for (const std::string& id : ids) {
    ASSERT_EQ(post("/api/v1/tasks/" + id + "/cancel", R"({"reason":"no more"})").status(), 200U);
  }
  // Several may have died in the same microsecond.
  observer_.execute("UPDATE task_dead SET died_at = '2026-11-24 04:00:00.000001'");
  auto dead = all("/api/v1/queues/mail/dead?limit=2");
  EXPECT_EQ(dead, all("/api/v1/queues/mail/dead"));
  std::sort(ids.begin(), ids.end());
  std::sort(dead.begin(), dead.end());
  EXPECT_EQ(dead, ids);
  const json groups = get("/api/v1/queues/mail/dead/groups").document();
  ASSERT_EQ(groups["items"].size(), 1U);
  EXPECT_EQ(groups["items"][0]["tasks"], 7);
}

TEST_F(ListTest, ATypeIsAFilter) {
  put_many(5, "a");
  put_many(5, "b");
  const auto found = all("/api/v1/queues/mail/tasks?type=b&limit=2");
  EXPECT_EQ(std::set<std::string>(found.begin(), found.end()).size(), 5U);
  EXPECT_TRUE(all("/api/v1/queues/mail/tasks?type=c").empty());
}

TEST_F(ListTest, AFilterReadsALimitedNumberOfRowsAndReturnsACursor) {
  observer_.execute(
      "INSERT INTO task (queue_id, partition_no, prio, run_key, type, payload) SELECT "
      "(SELECT queue_id FROM queue WHERE name = 'mail'), 0, 1, seq, IF(seq = 12000, 'b', 'a'), '' "
      "FROM " +
      support::numbers(1, 12'500));
  const json first = get("/api/v1/queues/mail/tasks?type=b").document();
  EXPECT_EQ(first["items"], json::array());
  ASSERT_TRUE(first["next"].is_string());
  EXPECT_EQ(all("/api/v1/queues/mail/tasks?type=b").size(), 1U);
  const json shown = get("/api/v1/queues/mail").document();
  EXPECT_EQ(shown["waiting"], (json{{"at_least", 10'000}}));
  EXPECT_EQ(shown["dead"], 0);
}

TEST_F(ListTest, ATimeIsAFilter) {
  put_many(6, "a");
  const auto ids = all("/api/v1/queues/mail/tasks");
  for (const std::string& id : ids) {
    ASSERT_EQ(post("/api/v1/tasks/" + id + "/cancel").status(), 200U);
  }
  observer_.execute("SET @n = 0");
  observer_.execute(
      "UPDATE task_dead SET died_at = '2026-11-24 04:00:00' + INTERVAL (@n := @n + 1) SECOND");
  const std::string dead = "/api/v1/queues/mail/dead";
  const auto whole = all(dead);
  const auto between = all(dead + "?since=2026-11-24T04:00:02Z&until=2026-11-24T04:00:05Z&limit=2");
  EXPECT_EQ(between, (std::vector<std::string>{whole[2], whole[3], whole[4]}));
  EXPECT_EQ(all(dead + "?since=2026-11-24T05:00:02%2B01:00").size(), 5U) << "another zone";
  EXPECT_EQ(all(dead + "?until=2026-11-24T04:00:01Z").size(), 0U);
  EXPECT_EQ(all(dead + "?type=a&until=2026-11-24T04:00:03Z").size(), 2U);
  EXPECT_EQ(all(dead + "?type=b&since=2026-11-24T04:00:03Z").size(), 0U);
  for (const char* wrong : {"yesterday", "2026-11-24", "2026-11-24T04:00:00", "%27"}) {
    const Answered answered = get(dead + "?since=" + wrong);
    EXPECT_EQ(answered.status(), 400U) << wrong;
    EXPECT_EQ(answered.named(), "since") << wrong;
  }
}

TEST_F(ListTest, WaitingTasksHaveTheTimeAtWhichTheyAreDue) {
  put("mail", R"(,"delay":"10h")");
  const std::string now = put("mail");
  const std::string soon =
      value("SELECT DATE_FORMAT(UTC_TIMESTAMP(6) + INTERVAL 1 HOUR, '%Y-%m-%dT%H:%i:%sZ')");
  EXPECT_EQ(all("/api/v1/queues/mail/tasks?until=" + soon), std::vector<std::string>{now});
  EXPECT_EQ(all("/api/v1/queues/mail/tasks?since=" + soon).size(), 1U);
}

TEST_F(ListTest, ACursorIsChecked) {
  put_many(3, "a");
  const std::string page = "/api/v1/queues/mail/tasks?limit=1";
  const std::string good = get(page).document()["next"];
  EXPECT_EQ(get(page + "&cursor=" + good).status(), 200U);
  const std::vector<std::string> wrong{"",
                                       "x",
                                       good + "A",
                                       good.substr(1),
                                       "%00",
                                       "%ff",
                                       "....",
                                       std::string(5'000, 'A'),
                                       as_json::to_base64url("w 1 1"),
                                       as_json::to_base64url("w 1 1 1 1"),
                                       as_json::to_base64url("r 1 1 1"),
                                       as_json::to_base64url("w -1 1 1"),
                                       as_json::to_base64url("w 1 1 99999999999999999999"),
                                       as_json::to_base64url("w 1 1 1'"),
                                       as_json::to_base64url("w 99999999999 1 1")};
  for (const std::string& cursor : wrong) {
    const Answered answered = get(page + "&cursor=" + cursor);
    EXPECT_EQ(answered.status(), 400U) << cursor;
    EXPECT_EQ(answered.named(), "cursor") << cursor;
  }
  for (const char* at : {"2026-13-01T00:00:00.000000Z", "2026-01-01 00:00:00.000000Z", "' OR 1 -- ",
                         "2026-01-01T00:00:00.000000+", "2026-01-01T99:00:00.000000Z"}) {
    const std::string cursor = as_json::to_base64url(std::string("d 1 1 1 ") + at);
    EXPECT_EQ(get("/api/v1/queues/mail/dead?cursor=" + cursor).status(), 400U) << at;
  }
}

TEST_F(ListTest, ListsShowOnlyTheCallersQueues) {
  const json some = get("/api/v1/queues", "mail").document();
  ASSERT_EQ(some["items"].size(), 1U);
  EXPECT_EQ(some["items"][0]["name"], "mail");
  EXPECT_EQ(get("/api/v1/queues").document()["items"].size(), 3U);
  EXPECT_EQ(get("/api/v1/stats", "mail").document()["items"].size(), 1U);
  EXPECT_EQ(get("/api/v1/lags", "mail").document()["items"].size(), 1U);
}

TEST_F(ListTest, TheLagIsMeasuredFromTheFirstDueTask) {
  put_many(2, "a");
  const json items = get("/api/v1/lags").document()["items"];
  ASSERT_EQ(items.size(), 3U);
  EXPECT_EQ(items[0]["queue"], "mail");
  EXPECT_TRUE(items[0]["oldest_due_us"].is_number()) << items;
  EXPECT_EQ(items[0]["leased"], 0);
  EXPECT_TRUE(items[1]["oldest_due_us"].is_null()) << items;
}

TEST_F(ListTest, TypesAreThoseOfTheCallersQueues) {
  const std::string zeros = [] {
    std::string all;
    for (int i = 0; i < 40; ++i) all += i == 3 ? ", 5" : ", 0";
    return all;
  }();
  for (const char* names : {"'mail', 'a'", "'mail', 'b'", "'other', 'c'"}) {
    observer_.execute(
        std::string("INSERT INTO type_hour SELECT DATE_FORMAT(UTC_TIMESTAMP(), '%Y-%m-%d "
                    "%H:00:00'), ") +
        names + ", 4, 1, 0" + zeros);
  }
  EXPECT_EQ(get("/api/v1/types").document()["items"].size(), 3U);
  const json some = get("/api/v1/types?limit=1", "mail").document();
  ASSERT_EQ(some["items"].size(), 1U) << some;
  EXPECT_EQ(some["omitted"], 1);
  EXPECT_EQ(some["truncated"], false);
  const json& type = some["items"][0];
  EXPECT_EQ(type["queue"], "mail");
  EXPECT_EQ(type["done"], 4);
  EXPECT_EQ(type["runtime"]["count"], 5);
  EXPECT_EQ(type["runtime"]["p50_us"], 7'500) << "between 5 and 10 ms";
  EXPECT_TRUE(type["wait"]["p99_us"].is_null()) << type;
  EXPECT_EQ(type["steps"].size(), 1U);
  EXPECT_EQ(get("/api/v1/types?queue=other", "mail").status(), 404U);
}

// S91
TEST_F(ListTest, WorkersShowTheCallersTasks) {
  const auto task = [](const char* queue) {
    return json{{"task", queue + std::string("-task")},
                {"type", "t"},
                {"queue", queue},
                {"attempt", 1},
                {"running_ms", 5},
                {"detached", false},
                {"progress", nullptr},
                {"progress_text", nullptr}};
  };
  const auto worker = [](std::uint32_t slot, const json& queue, json running) {
    return json{{"slot", slot},
                {"pid", 1},
                {"pool", "p"},
                {"state", "running"},
                {"database_unreachable", false},
                {"stale_configuration", false},
                {"queue", queue},
                {"partition", 3},
                {"done", 77},
                {"running", std::move(running)}};
  };
  const json state{
      {"version", "0.1.0"},
      {"configuration", "00"},
      {"omitted", 0},
      {"stewards", json::array({{{"slot", 9}}})},
      {"pools", json::array({{{"name", "p"}, {"workers", 3}, {"queues", {"mail", "other"}}},
                             {{"name", "q"}, {"workers", 1}, {"queues", {"other"}}}})},
      {"workers", json::array({worker(0, "other", json::array({task("mail"), task("other")})),
                               worker(1, "other", json::array({task("other")})),
                               worker(2, "mail", json::array())})}};
  queue::put_snapshot(observer_, {1, 2, "host-a", "default", 3}, state.dump());
  const json all = get("/api/v1/workers").document()["items"];
  ASSERT_EQ(all.size(), 1U) << all;
  EXPECT_EQ(all[0]["workers"], state["workers"]);
  EXPECT_EQ(all[0]["host"], "host-a");
  EXPECT_EQ(all[0]["silent"], false);
  const json some = get("/api/v1/workers", "mail").document()["items"];
  ASSERT_EQ(some.size(), 1U) << some;
  ASSERT_EQ(some[0]["workers"].size(), 2U) << some;
  EXPECT_EQ(some[0]["workers"][0]["running"], json::array({task("mail")}));
  EXPECT_TRUE(some[0]["workers"][0]["queue"].is_null());
  EXPECT_EQ(some[0]["workers"][1]["queue"], "mail");
  EXPECT_EQ(some.dump().find("other"), std::string::npos) << some;
  EXPECT_FALSE(some[0]["workers"][0].contains("done")) << "counts are of all queues";
  EXPECT_FALSE(some[0]["workers"][1].contains("done")) << "counts are of all queues";
  EXPECT_EQ(some[0]["pools"].size(), 1U) << some;
}

TEST_F(ListTest, ManyViewersAreOneForTheDatabase) {
  queue::make_duties(observer_, {{0, queue::kViewersDuty}});
  queue::put_snapshot(observer_, {1, 2, "host-a", "default", 3}, "{}");
  queue::put_snapshot(observer_, {2, 3, "host-b", "default", 3}, "not what a steward writes");
  ASSERT_EQ(get("/api/v1/workers").document()["items"].size(), 1U);
  EXPECT_EQ(number("SELECT COUNT(*) FROM queue_duty WHERE duty = 'viewers' AND holder IS NULL AND "
                   "free_at > UTC_TIMESTAMP(6)"),
            1U)
      << "stewards are notified";
  observer_.execute("DELETE FROM host_snapshot; DELETE FROM queue_duty");
  EXPECT_EQ(get("/api/v1/workers", "mail").document()["items"].size(), 1U) << "read a moment ago";
  EXPECT_TRUE(
      support::eventually([&] { return get("/api/v1/workers").document()["items"].empty(); }));
}

TEST_F(ListTest, NoticesAreThoseOfTheCallersQueues) {
  using queue::NoticeKind;
  const std::vector<queue::Notice> all{{NoticeKind::kDead, "mail", "at least 1 dead"},
                                       {NoticeKind::kNoHandler, "mail/a.b", "no handler"},
                                       {NoticeKind::kDead, "other", "at least 1 dead"},
                                       {NoticeKind::kSchedule, "nightly", "it fails"}};
  for (const queue::Notice& notice : all) queue::raise_notice(observer_, notice, std::nullopt);
  EXPECT_EQ(get("/api/v1/notices").document()["items"].size(), 4U);
  const json some = get("/api/v1/notices", "mail").document()["items"];
  ASSERT_EQ(some.size(), 2U) << some;
  for (const json& notice : some) EXPECT_EQ(notice["queue"], "mail") << notice;
}

}  // namespace
}  // namespace allot::gateway::api
