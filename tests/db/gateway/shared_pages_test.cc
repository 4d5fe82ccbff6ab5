// SPDX-License-Identifier: Apache-2.0
// Viewers of pages share their reads: a hundred of them cost the database what one does, and each
// sees only its queues.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

#include "db/gateway/site.h"
#include "queue/findings/finding.h"
#include "queue/minutes/instances.h"
#include "queue/minutes/minute_store.h"
#include "queue/notices/notice.h"

namespace allot::gateway::ui {
namespace {

using std::chrono::steady_clock;

const std::vector<std::string> kShared{"/ui/", "/ui/queues", "/ui/running", "/ui/workers"};
constexpr int kViewers = 100;

class SharedPagesTest : public SiteTest {
 protected:
  void share_for(Nanos share_for) {
    api::Service shared = service();
    shared.share_for = share_for;
    restart(shared);
  }
  std::uint64_t statements() {
    return number("SELECT variable_value FROM " +
                  std::string(support::on_mysql() ? "performance_schema" : "information_schema") +
                  ".global_status WHERE variable_name = 'Questions'");
  }
  // Viewers that request the pages again and again for some seconds. Returns the statements per
  // second, without the statements of the first visit.
  double statements_of(int viewers) {
    for (const std::string& path : kShared) EXPECT_EQ(page(path).status(), 200U) << path;
    std::atomic<int> bad = 0;
    std::atomic<int> good = 0;
    const std::uint64_t before = statements();
    const auto begin = steady_clock::now();
    const auto end = begin + std::chrono::seconds(5);
    std::vector<std::thread> threads;
    for (int i = 0; i < viewers; ++i) {
      threads.emplace_back([&] {
        while (steady_clock::now() < end) {
          for (const std::string& path : kShared) ++(page(path).status() == 200 ? good : bad);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    const std::chrono::duration<double> elapsed = steady_clock::now() - begin;
    const double per_second = static_cast<double>(statements() - before - 1) / elapsed.count();
    std::printf("viewers %d, pages %d, statements a second %.2f\n", viewers, good.load(),
                per_second);
    EXPECT_EQ(bad, 0);
    EXPECT_GE(good, viewers);
    return per_second;
  }
  void write_states() {
    make_queue("foreign", {1, queue::Placement::kSpread, 1});
    queue::store_findings(observer_,
                          {{queue::Level::kWarn, "lease rows", "wrong", "fix", "foreign"},
                           {queue::Level::kWarn, "lease rows", "wrong", "fix", "mail"}});
    for (const char* queue : {"foreign", "mail"}) {
      queue::raise_notice(observer_, {queue::NoticeKind::kDead, queue, "3 tasks"}, std::nullopt);
    }
    const auto worker = [](const char* queue) {
      return json{{"slot", 1},
                  {"pid", 1},
                  {"pool", "shop"},
                  {"state", "running"},
                  {"queue", queue},
                  {"partition", 0},
                  {"running", json::array({{{"task", "0840dqg2v5n80r00"},
                                            {"type", std::string(queue) + ".send"},
                                            {"queue", queue},
                                            {"running_ms", 5},
                                            {"attempt", 1}}})}};
    };
    const json state{
        {"version", "1"},
        {"configuration", "1"},
        {"pools",
         json::array(
             {{{"name", "shop"}, {"workers", 2}, {"queues", json::array({"foreign", "mail"})}}})},
        {"workers", json::array({worker("foreign"), worker("mail")})}};
    queue::put_snapshot(observer_, {7, 1, "host", "test", 12}, state.dump());
    int place = 0;
    for (const std::string queue : {"foreign", "mail"}) {
      observer_.execute(
          "INSERT INTO attempt_minute VALUES (UTC_TIMESTAMP() - INTERVAL 3 MINUTE, 1, 1, " +
          std::to_string(++place) + ", 60, '" + queue + "', '" + queue +
          ".send', '', '', 12, 0, 0, 0, 0, 0, 0, 12000, 12, 0, 0, 0, 0, 0)");
    }
  }
};

TEST_F(SharedPagesTest, AHundredViewersCostWhatOneDoes) {
  share_for(api::Service().share_for);
  const double one = statements_of(1);
  const double hundred = statements_of(kViewers);
  EXPECT_LE(one, 5);
  EXPECT_LE(hundred, 5);
  // Without viewers nothing is sent: only this test's own statements are counted.
  const std::uint64_t before = statements();
  std::uint64_t own = 0;
  const auto sent = [&] { return statements() - before != ++own; };
  EXPECT_FALSE(support::eventually(sent, std::chrono::seconds(1)));
}

// No matter which token the first visitor has.
TEST_F(SharedPagesTest, ATokenForAQueueSeesOnlyItsPart) {
  write_states();
  for (const bool first : {true, false}) {
    share_for(3'600 * kSecond);
    const auto look_as_all = [&] {
      for (const std::string& path : kShared) {
        EXPECT_NE(page(path).response.body.find("foreign"), std::string::npos) << path;
      }
    };
    if (!first) look_as_all();
    for (std::string path : {"/ui/", "/ui/queues", "/ui/running", "/ui/workers", "/ui/failures",
                             "/ui/types", "/ui/queues/mail", "/ui/search"}) {
      const auto answered = page(path, "mail");
      EXPECT_EQ(answered.status(), 200U) << path << ": " << answered;
      EXPECT_EQ(answered.response.body.find("foreign"), std::string::npos)
          << path << ": " << answered;
      EXPECT_NE(answered.response.body.find("mail"), std::string::npos) << path;
    }
    EXPECT_EQ(page("/ui/queues/foreign", "mail").status(), 404U);
    look_as_all();
  }
}

TEST_F(SharedPagesTest, AnActionIsOnTheNextPage) {
  share_for(3'600 * kSecond);
  for (const char* path : {"/ui/", "/ui/queues/mail"}) {
    EXPECT_EQ(page(path).response.body.find("moving"), std::string::npos) << path;
  }
  EXPECT_EQ(post("/ui/queues/mail/pause", {.more = "reason=moving"}).status(), 303U);
  for (const char* path : {"/ui/", "/ui/queues/mail"}) {
    EXPECT_NE(page(path).response.body.find("moving"), std::string::npos) << path;
  }
}

TEST_F(SharedPagesTest, ANewQueueHasItsPageAtOnce) {
  share_for(3'600 * kSecond);
  EXPECT_EQ(page("/ui/queues/new").status(), 404U);
  make_queue("new", {1, queue::Placement::kSpread, 1});
  EXPECT_EQ(page("/ui/queues/new").status(), 200U);
}

// The counts are the expensive part of the page of a queue.
TEST_F(SharedPagesTest, TasksOfAQueueAreCountedOnceForManyVisits) {
  fill(1, kFewRows + 1);
  share_for(3'600 * kSecond);
  const auto look = [&] {
    const auto answered = page("/ui/queues/mail");
    EXPECT_NE(answered.response.body.find("10,000+"), std::string::npos) << answered;
  };
  const std::uint64_t first = rows_read_by(observer_, look);
  EXPECT_GE(first, 3 * kFewRows);
  const std::uint64_t others = rows_read_by(observer_, [&] {
    for (int i = 0; i < 20; ++i) look();
  });
  EXPECT_LE(others, 100U);
}

// The other threads of the gateway stay free for the shared pages.
TEST_F(SharedPagesTest, SearchesAreReadTwoAtATime) {
  put();
  db::Connection blocker = server_.connect(name_);
  blocker.execute("LOCK TABLES task WRITE");
  std::vector<std::thread> viewers;
  std::atomic<int> good = 0;
  for (std::size_t i = 0; i < 6; ++i) {
    viewers.emplace_back([&] {
      if (page("/ui/search?queue=mail&state=waiting&type=t").status() == 200) ++good;
    });
  }
  const auto blocked = [&] {
    return number("SELECT COUNT(*) FROM information_schema.processlist WHERE db = '" + name_ +
                  "' AND state LIKE 'Waiting for table%'");
  };
  EXPECT_TRUE(support::eventually([&] { return blocked() == 2; }));
  EXPECT_EQ(page("/ui/locks").status(), 200U);
  EXPECT_EQ(blocked(), 2U);
  EXPECT_EQ(good, 0);
  blocker.execute("UNLOCK TABLES");
  for (std::thread& viewer : viewers) viewer.join();
  EXPECT_EQ(good, 6);
}

TEST_F(SharedPagesTest, AnErrorIsNotKept) {
  share_for(3'600 * kSecond);
  observer_.execute("RENAME TABLE notice TO notice_away");
  EXPECT_EQ(page("/ui/").status(), 200U);
  observer_.execute("RENAME TABLE notice_away TO notice");
  queue::raise_notice(observer_, {queue::NoticeKind::kDead, "mail", "3 tasks"}, std::nullopt);
  EXPECT_NE(page("/ui/").response.body.find("3 tasks"), std::string::npos);
}

}  // namespace
}  // namespace allot::gateway::ui
