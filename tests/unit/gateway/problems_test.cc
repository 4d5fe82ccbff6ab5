// SPDX-License-Identifier: Apache-2.0
// The overview's text about a queue that is stuck, and the target of its link.
#include "gateway/ui/problems.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "gateway/ui/page_functions.h"
#include "gateway/ui/traffic.h"
#include "unit/gateway/ui_parts.h"

namespace allot::gateway::ui {
namespace {

using namespace std::chrono_literals;

TEST(Problems, SayWhatIsWrongAndWhereItIsFixed) {
  const Document queues = document(
      {{"items",
        json::array({{{"name", "mail"}, {"paused", nullptr}},
                     {{"name", "slow"},
                      {"paused", {{"since", minute_at(kNow - 1h)}, {"reason", "move"}}}}})}});
  const Document lags = document(
      {{"items",
        json::array({{{"queue", "mail"}, {"oldest_due_us", 600'000'000}, {"leased", 0}}})}});
  Seen seen;
  seen.queues = &queues;
  seen.lags = &lags;
  const auto problems = problems_of(visit(), seen);
  ASSERT_EQ(problems.size(), 2U);
  EXPECT_EQ(problems[0].what, "Queue mail: the oldest task has been due for 10 min.");
  EXPECT_EQ(problems[0].address, "/ui/queues/mail");
  EXPECT_EQ(problems[1].what, "Queue slow has been paused for 60 min: move");
  EXPECT_EQ(problems[1].kind, "paused");
}

// A finding reported elsewhere is not repeated.
TEST(Problems, FindingsAreAmongThemOnce) {
  const auto finding = [](const char* level, const char* about, const json& queue) {
    return json{{"level", level},
                {"check", about},
                {"queue", queue},
                {"text", "something is wrong"},
                {"fix", "repair it"}};
  };
  const Document queues = document({{"items", json::array()}});
  const Document notices = document({{"items", json::array({{{"kind", "unserved"},
                                                             {"subject", "mail"},
                                                             {"queue", "mail"},
                                                             {"detail", ""},
                                                             {"task", nullptr}}})}});
  const Document findings =
      document({{"items", json::array({finding("warn", "durability", nullptr),
                                       finding("fail", "lease rows", "mail"),
                                       finding("warn", "queue mail", "mail"),
                                       finding("warn", "queue slow", "slow")})},
                {"checked_at", minute_at(kNow)}});
  Seen seen;
  seen.queues = &queues;
  seen.notices = &notices;
  seen.findings = &findings;
  const auto problems = problems_of(visit(), seen);
  ASSERT_EQ(problems.size(), 4U);
  EXPECT_EQ(problems[1].what, "durability: something is wrong");
  EXPECT_EQ(problems[1].fix, "repair it");
  EXPECT_EQ(problems[1].kind, "warn");
  EXPECT_EQ(problems[2].kind, "bad");
  EXPECT_EQ(problems[2].address, "/ui/queues/mail");
  EXPECT_EQ(problems[3].what, "queue slow: something is wrong");
}

// The overview's text about queue mail, whose task has been due for 10 minutes.
class Stuck : public testing::Test {
 protected:
  std::vector<Problem> problems() {
    const std::vector<json> all{queues, lags, notices, workers, findings, instances};
    documents_.clear();
    for (const json& items : all) documents_.push_back(document({{"items", items}}));
    Seen seen;
    seen.queues = &documents_[0];
    seen.lags = &documents_[1];
    seen.notices = &documents_[2];
    seen.workers = &documents_[3];
    seen.findings = &documents_[4];
    seen.workforce = workforce_of(&documents_[5]);
    json minutes = json::array();
    for (int ago = 2; ago < 60; ago += 2) {
      minutes.push_back(minute(kNow - std::chrono::minutes(ago), done_in_2_min, dead_in_2_min, 9));
    }
    const Document items = document({{"items", minutes}});
    seen.traffic = traffic_of(&items, kNow);
    return problems_of(visit(), seen);
  }
  // The only problem has these words and this link.
  void expect(const std::string& what, const std::string& fix, const std::string& address) {
    const auto all = problems();
    ASSERT_EQ(all.size(), 1U) << all.back().what;
    EXPECT_NE(all[0].what.find(what), std::string::npos) << all[0].what;
    EXPECT_NE(all[0].fix.find(fix), std::string::npos) << all[0].fix;
    EXPECT_EQ(all[0].address, address) << all[0].what;
  }
  static json notice(const char* kind, const std::string& subject) {
    return {{"kind", kind},
            {"subject", subject},
            {"queue", "mail"},
            {"detail", "3 tasks"},
            {"task", nullptr}};
  }
  static json worker(std::uint64_t running_ms, bool former = false) {
    json running = json::array();
    if (running_ms > 0) {
      running.push_back(
          {{"task", "t"}, {"type", "mail.send"}, {"queue", "mail"}, {"running_ms", running_ms}});
    }
    return {{"pool", "shop"},
            {"database_unreachable", false},
            {"stale_configuration", former},
            {"running", running}};
  }
  static json host(const json& workers) {
    return {{"host", "host-a"},
            {"silent", false},
            {"age_ms", 0},
            {"workers", workers},
            {"pools", json::array({{{"name", "shop"}, {"workers", 2}, {"queues", {"mail"}}}})}};
  }
  static json instance(const char* queue, bool silent = false) {
    return {{"silent", silent},
            {"pools", json::array({{{"name", "shop"}, {"workers", 2}, {"queues", {queue}}}})}};
  }

  json queues = json::array({{{"name", "mail"}, {"paused", nullptr}, {"rate", nullptr}}});
  json lags = json::array(
      {{{"queue", "mail"}, {"oldest_due_us", 600'000'000}, {"leased", 0}, {"overdue", 0}}});
  json notices = json::array();
  json workers = json::array({host(json::array({worker(0), worker(0)}))});
  json findings = json::array();
  json instances = json::array({instance("mail")});
  std::uint64_t done_in_2_min = 0;
  std::uint64_t dead_in_2_min = 0;

 private:
  std::vector<Document> documents_{};
};

TEST_F(Stuck, WithoutAWorker) {
  instances = json::array({instance("mail", true)});
  lags[0]["oldest_due_us"] = 0;
  expect("No daemon is running", "systemctl start allotd", "");
}

TEST_F(Stuck, WithoutAHandler) {
  lags[0]["oldest_due_us"] = 0;
  notices = json::array({notice("no_handler", "mail/mail.send")});
  notices[0]["task"] = "0840dqg2v5n80r00";
  expect("No handler for mail/mail.send", "Install the plugin", "/ui/tasks/0840dqg2v5n80r00");
}

TEST_F(Stuck, WithoutAPool) {
  instances = json::array({instance("other")});
  expect("No pool serves queue mail", "[pools.NAME] queues", "/ui/queues/mail");
}

TEST_F(Stuck, Paused) {
  queues[0]["paused"] = {{"since", minute_at(kNow - 1h)}, {"reason", "move"}};
  expect("paused for 60 min: move", "until it is resumed", "/ui/queues/mail");
}

TEST_F(Stuck, ByAPoisonType) {
  lags[0]["oldest_due_us"] = 0;
  done_in_2_min = dead_in_2_min = 10;
  expect("50 % of the attempts in the last 10 minutes failed", "Read the error",
         "/ui/failures?queue=mail");
}

TEST_F(Stuck, ByASlowTarget) {
  workers = json::array({host(json::array({worker(240'000), worker(1'000)}))});
  expect("All 2 workers that serve it are busy, mostly with mail.send, for up to 4 min.",
         "what they wait for may be slow", "/ui/running");
  notices = json::array({notice("waiting", "mail")});
  expect("Queue mail is late: 3 tasks. All 2 workers", "may be slow", "/ui/running");
}

TEST_F(Stuck, ByAReadOnlyDatabase) {
  const Document good = document({{"items", queues}});
  const Document failed(503, {{"detail", "the database is read-only; make it writable"}});
  Seen seen;
  seen.queues = &good;
  seen.workers = &failed;
  const auto all = problems_of(visit(), seen);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].what,
            "The gateway cannot use the database: the database is read-only; make it writable");
}

TEST_F(Stuck, ByItsRate) {
  queues[0]["rate"] = {{"per_second", 0.5}, {"burst", 1}};
  done_in_2_min = 59;
  expect("Its rate lets only 0.5 tasks start in a second.", "allot queue rate mail NUMBER",
         "/ui/queues/mail");
  done_in_2_min = 10;
  expect("due for 10 min.", "Add workers", "/ui/queues/mail");
  queues[0]["rate"]["per_second"] = 0.001;
  done_in_2_min = 0;
  expect("Its rate lets only 0.001", "allot queue rate", "/ui/queues/mail");
}

TEST_F(Stuck, ByALostHostThatHasAPartition) {
  lags[0]["overdue"] = 2;
  expect("2 of its partitions are leased by workers that do not answer", "start allotd",
         "/ui/queues/mail");
}

TEST_F(Stuck, ByAFormerConfiguration) {
  lags[0]["oldest_due_us"] = 0;
  workers = json::array({host(json::array({worker(5, true), worker(0)}))});
  expect("1 workers of pool shop on host-a still use the former configuration",
         "when its task has ended", "/ui/workers");
}

TEST(Queue, NamesHoldersThatGiveNoSignOfLife) {
  View view{visit()};
  view.visit.path["queue"] = "mail";
  view.documents = {document({{"name", "mail"}}), document(json::object()),
                    document({{"partitions", 4},
                              {"leased", json::array({{{"partition", 1},
                                                       {"host", "good"},
                                                       {"pid", 7},
                                                       {"until", minute_at(kNow + 1min)},
                                                       {"overdue", false},
                                                       {"silent_since", nullptr}},
                                                      {{"partition", 2},
                                                       {"host", "lost"},
                                                       {"pid", 8},
                                                       {"until", minute_at(kNow - 1min)},
                                                       {"overdue", true},
                                                       {"silent_since", nullptr}}})}})};
  Html html;
  render_queue(view, html);
  const std::string text = html.take();
  EXPECT_NE(text.find("partition 2, process 8 on <bdi>lost</bdi>, whose lease ended"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("good</bdi>"), std::string::npos);
}

TEST(Problems, ADatabaseThatIsGoneIsOne) {
  const Document queues(503, {{"detail", "the database does not answer"}});
  Seen seen;
  seen.queues = &queues;
  const auto problems = problems_of(visit(), seen);
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].key, "database");
}

}  // namespace
}  // namespace allot::gateway::ui
