// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/exit_codes.h"
#include "db/cli/fixture.h"
#include "db/verbs.h"
#include "queue/model/catalog.h"
#include "queue/verbs/lease_store.h"
#include "support/terminal.h"

namespace allot::cli {
namespace {

using nlohmann::json;

class DeadTest : public CliTest {
 protected:
  DeadTest() { must({"migrate"}); }

  // Submits a task to "default" and buries it; returns its id.
  std::string die(const std::string& error, const std::string& type = "mail.send") {
    std::string id = must({"submit", "default", type, "payload"});
    id.pop_back();
    auto block =
        leases_.lease(observer_, {queue::find_queue(observer_, "default")->queue_id, 0}, {});
    for (const queue::Task& task : block->tasks) {
      EXPECT_EQ(store_.bury(observer_, queue::fence(block->lease, task), 1, {"retry", error}),
                queue::Fenced::kWritten);
    }
    EXPECT_TRUE(leases_.release(observer_, block->lease));
    return id;
  }
  json listed(const Words& words) {
    Words all = words;
    all.emplace_back("--json");
    return json::parse(must(all));
  }
  std::string state(const std::string& id) {
    const auto shown = allot({"task", "show", id, "--json"});
    return shown.status.code == 0 ? json::parse(shown.out).at("state").get<std::string>() : "gone";
  }

  queue::LeaseStore leases_{queue::make_holder("test", "/run/test"), std::chrono::seconds(30)};
  queue::Verbs store_{leases_.holder()};
};

TEST_F(DeadTest, TheListBeginsWithTheNewest) {
  const std::string first = die("no such user");
  const std::string second = die("also\nno");
  EXPECT_TRUE(has(must({"dead", "list"}), "retry: no such user\n"));
  const json list = listed({"dead", "list", "default"});
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0]["task"], second);
  EXPECT_EQ(list[1]["task"], first);
  EXPECT_EQ(listed({"dead", "list", "--limit", "1"}).size(), 1U);
  EXPECT_EQ(allot({"dead", "list", "--limit", "2"}).err,
            "queue default: at most 2 are shown, see --limit\n");
  EXPECT_EQ(listed({"dead", "list", "wide"}), json::array());
  const auto unknown = allot({"dead", "list", "defualt"});
  EXPECT_EQ(unknown.status.code, kExitBadInput);
  EXPECT_TRUE(has(unknown.err, "did you mean 'default'?"));
}

TEST_F(DeadTest, GroupsHaveWhatTheirErrorsHaveInCommon) {
  die("user 1 is gone");
  die("user 22 is gone");
  die("user 3 is gone", "sms.send");
  const json list = listed({"dead", "groups"});
  ASSERT_EQ(list.size(), 2U) << list;
  EXPECT_EQ(list[0]["tasks"], 2);
  EXPECT_TRUE(has(must({"dead", "groups", "default"}), "retry: user # is gone\n"));
  EXPECT_EQ(listed({"dead", "groups", "--limit", "1"}).size(), 1U);
}

TEST_F(DeadTest, AnIdNeedsNoConfirmation) {
  const std::string first = die("no");
  const std::string second = die("no");
  EXPECT_EQ(must({"dead", "retry", first}), "retried 1 dead task\n");
  EXPECT_EQ(state(first), "waiting");
  EXPECT_EQ(state(second), "dead");
  EXPECT_EQ(must({"dead", "discard", second}), "discarded 1 dead task\n");
  EXPECT_EQ(state(second), "gone");
  for (const std::string& id : {first, second, std::string("0840dqg2v5n80r00")}) {
    const auto refused = allot({"dead", "retry", id});
    EXPECT_EQ(refused.status.code, kExitFailure);
    EXPECT_TRUE(has(refused.err, "no dead task has the id " + id + ": it "));
  }
  EXPECT_TRUE(has(allot({"dead", "retry", first}).err, "it is waiting"));
}

TEST_F(DeadTest, AGroupIsCountedFirst) {
  const std::string one = die("user 1 is gone");
  const std::string two = die("user 2 is gone");
  const std::string other = die("connection refused");
  const std::string group = listed({"dead", "groups"}).at(0).at("group");
  const auto unasked = allot({"dead", "retry", "--group", group});
  EXPECT_EQ(unasked.status.code, kExitUsage);
  EXPECT_EQ(unasked.err, "allot: retry would affect 2 dead tasks of queue default, group " + group +
                             "; nothing was done; confirm with --yes\n");
  EXPECT_EQ(count("task_dead"), 3U);
  const json done = json::parse(must({"dead", "retry", "--group", group, "--yes", "--json"}));
  EXPECT_EQ(done.at("tasks"), 2);
  EXPECT_EQ(done.at("tasks_at_least"), false);
  EXPECT_EQ(done.at("retried"), 2);
  EXPECT_EQ(done.at("state"), "done");
  const json action = listed({"bulk", "show", std::to_string(done.at("action").get<int>())});
  EXPECT_EQ(action.at("kind"), "retry_dead");
  EXPECT_EQ(action.at("queue"), "default");
  EXPECT_EQ(action.at("group"), group);
  EXPECT_EQ(action.at("done"), 2);
  EXPECT_EQ(state(one), "waiting");
  EXPECT_EQ(state(two), "waiting");
  EXPECT_EQ(state(other), "dead");
  const auto none = allot({"dead", "retry", "--group", group, "--yes"});
  EXPECT_EQ(none.status.code, kExitFailure);
  EXPECT_TRUE(has(none.err, "no dead task is in a group '" + group + "'"));
  EXPECT_EQ(allot({"dead", "retry", "--group", group, "--queue", "wide"}).status.code,
            kExitFailure);
}

TEST_F(DeadTest, AllOfAQueue) {
  for (int i = 0; i < 5; ++i) die("no");
  EXPECT_EQ(allot({"dead", "discard", "--queue", "default", "--all"}).status.code, kExitUsage);
  EXPECT_EQ(must({"dead", "retry", "--queue", "wide", "--all"}), "retried 0 dead tasks\n");
  EXPECT_EQ(must({"dead", "discard", "--queue", "default", "--all", "--yes"}),
            "discarded 5 dead tasks\n");
  EXPECT_EQ(count("task_dead"), 0U);
  EXPECT_EQ(count("task_attempt"), 0U);
}

// No steward runs to do it, and the command does not wait.
TEST_F(DeadTest, WithoutWaitingAnActionIsOnlyBegun) {
  die("no");
  die("no", "sms.send");
  const auto begun = json::parse(must({"dead", "discard", "--queue", "default", "--all", "--type",
                                       "sms.send", "--yes", "--no-wait", "--json"}));
  EXPECT_EQ(begun.at("tasks"), 1);
  EXPECT_EQ(begun.at("discarded"), 0);
  EXPECT_EQ(begun.at("state"), "waiting");
  EXPECT_EQ(count("task_dead"), 2U);
  const std::string number = std::to_string(begun.at("action").get<int>());
  EXPECT_TRUE(has(must({"bulk", "show", number}), "tasks        all of type sms.send\n"));
  EXPECT_TRUE(has(must({"bulk", "list"}), "discard_dead  default  all of type sms.send"));
  EXPECT_EQ(must({"bulk", "stop", number}), "bulk action " + number +
                                                " stopped: discarded 0 of 1 dead tasks of queue"
                                                " default\n");
  EXPECT_TRUE(has(allot({"bulk", "stop", number}).err, "had already ended: stopped"));
  const auto unknown = allot({"bulk", "show", "4711"});
  EXPECT_EQ(unknown.status.code, kExitBadInput);
  EXPECT_TRUE(has(unknown.err, "unknown bulk action 4711: it ended more than a week ago"));
  EXPECT_TRUE(has(must({"dead", "discard", "--queue", "default", "--all", "--yes", "--no-wait"}),
                  "bulk action "));
}

TEST_F(DeadTest, TheRateIsKept) {
  for (int i = 0; i < 6; ++i) die("no");
  const Nanos began = mono_ns();
  must({"dead", "retry", "--queue", "default", "--all", "--yes", "--rate", "5"});
  EXPECT_GE(mono_ns() - began, 1 * kSecond) << "the first at once, five more in a second";
  EXPECT_EQ(count("task"), 6U);
}

TEST_F(DeadTest, OnATerminalItIsAsked) {
  die("no");
  const Words words{ALLOT_PROGRAM, "--config", config(),  "dead",
                    "retry",       "--queue",  "default", "--all"};
  support::Terminal terminal;
  terminal.type("n\n");
  EXPECT_EQ(terminal.run(words, {}, {0, 2}).status.code, kExitFailure);
  EXPECT_TRUE(has(terminal.written(), "retry: 1 dead task of queue default. Continue? [y/N] "));
  EXPECT_TRUE(has(terminal.written(), "nothing was done"));
  EXPECT_EQ(count("task_dead"), 1U);
  terminal.type("y\n");
  EXPECT_EQ(terminal.run(words, {}, {0, 2}).status.code, kExitOk);
  EXPECT_EQ(count("task_dead"), 0U);
}

TEST_F(DeadTest, OnATerminalABarShowsHowFarItIs) {
  for (const std::string verb : {"retry", "discard"}) {
    die("no");
    support::Terminal terminal;
    const Words words{ALLOT_PROGRAM, "--config", config(), "dead", verb,
                      "--queue",     "default",  "--all",  "--yes"};
    EXPECT_EQ(terminal.run(words, {}, {STDERR_FILENO}).status.code, kExitOk);
    EXPECT_TRUE(has(terminal.written(), "]  100 %  ")) << terminal.written();
    ASSERT_EQ(terminal.seen().size(), 1U) << "it is wiped out at the end";
    EXPECT_TRUE(has(terminal.seen()[0], verb + ": ")) << "what was confirmed by --yes";
  }
}

TEST_F(DeadTest, ShowTellsTheLivesApart) {
  const std::string id = die("first");
  must({"dead", "retry", id});
  EXPECT_TRUE(has(must({"task", "show", id}), "RUN       ATTEMPT  ENDED"));
  EXPECT_TRUE(has(must({"task", "show", id}), "\n1 before        1  20"));
  const json shown = json::parse(must({"task", "show", id, "--json"}));
  EXPECT_EQ(shown["attempts_charged"], 0);
  EXPECT_EQ(shown["attempts"].at(0)["retries_since"], 1);
}

TEST_F(DeadTest, AmbiguousChoiceIsRefused) {
  for (const Words& words :
       {Words{"dead"}, Words{"dead", "retry"}, Words{"dead", "retry", "--queue", "default"},
        Words{"dead", "retry", "--all"}, Words{"dead", "retry", "x", "--group", "y"},
        Words{"dead", "retry", "x"},
        Words{"dead", "retry", "--group", "g", "--queue", "default", "--all"},
        Words{"dead", "retry", "--group", "g", "--rate", "0"},
        Words{"dead", "retry", "x", "--no-wait"}, Words{"bulk"}, Words{"bulk", "stop"},
        Words{"bulk", "show", "x"}, Words{"bulk", "show", "-1"},
        Words{"bulk", "list", "--limit", "0"}}) {
    EXPECT_EQ(allot(words).status.code, kExitUsage) << testing::PrintToString(words);
  }
  EXPECT_EQ(allot({"dead", "retry", "--group", "x' OR 1=1", "--yes"}).status.code, kExitFailure);
}

}  // namespace
}  // namespace allot::cli
