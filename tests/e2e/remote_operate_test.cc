// SPDX-License-Identifier: Apache-2.0
// `allot --url` lists, operates and submits in bulk: the same words, the same output.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <nlohmann/json.hpp>
#include <string>

#include "base/exit_codes.h"
#include "e2e/remote.h"
#include "support/eventually.h"

namespace allot::e2e::remote_operate_test {
namespace {

using nlohmann::json;
using support::eventually;
using support::ExitStatus;
using support::Finished;

class RemoteOperate : public Remote {
 protected:
  // What the command prints over both ways, as text and as JSON.
  void same_list(Words words) const {
    same(words);
    words.emplace_back("--json");
    same(words);
  }
  std::string submitted(const std::string& payload = "x") const {
    return line_of(daemon_->allot({"submit", "default", "test.ok", payload}).out);
  }
  std::string dead() const {
    const std::string id = submitted();
    EXPECT_EQ(daemon_->allot({"task", "cancel", id}).status, (ExitStatus{0, 0}));
    return id;
  }
  // Over the socket and over SQL the same words are refused with the same code.
  void same_refusal(const Words& words, int code) const {
    const Finished near = daemon_->allot(words);
    const Finished other = over_socket_any(words);
    EXPECT_EQ(near.status, (ExitStatus{code, 0})) << testing::PrintToString(words) << near.err;
    EXPECT_EQ(other.status, near.status) << testing::PrintToString(words) << other.err;
  }
};

TEST_F(RemoteOperate, ListsAreThoseOfTheDatabase) {
  start();
  for (int i = 0; i < 3; ++i) submitted(std::string(static_cast<std::size_t>(i), 'x'));
  for (int i = 0; i < 3; ++i) dead();
  const std::string done = submitted();
  over_socket({"task", "cancel", done, "--as-done"});
  same_list({"tasks"});
  same_list({"tasks", "--queue", "default", "--limit", "2"});
  same_list({"dead", "list"});
  same_list({"dead", "list", "default", "--limit", "1"});
  same_list({"dead", "groups"});
  same_list({"history"});
  same_list({"history", "--queue", "default", "--type", "test.ok"});
  same_list({"history", "--type", "no.such"});
  same_list({"queue", "list"});
  same_refusal({"tasks", "--queue", "nosuch"}, kExitBadInput);
  same_refusal({"dead", "list", "nosuch"}, kExitBadInput);
  same_refusal({"history", "--queue", "no such"}, kExitBadInput);
  const Finished after = over_socket_any({"history", "--after", done});
  EXPECT_EQ(after.status, (ExitStatus{kExitUsage, 0})) << after.err;
}

// Of two steps ago, by a steward that is no more.
TEST_F(RemoteOperate, MinutesAreThoseOfTheDatabase) {
  start();
  submitted();
  auto db = daemon_->connect();
  const std::string then = "(UTC_TIMESTAMP() - INTERVAL 120 + SECOND(UTC_TIMESTAMP()) SECOND, ";
  const std::string numbers = ", 5, 2, 0, 0, 1, 0, 1, 900000, 7, 1, 0, 0, 0, 0)";
  db.execute("INSERT INTO attempt_minute VALUES " + then + "1, 1, 0, 60, 'default', 'a', '', ''" +
             numbers + ", " + then + "1, 1, 1, 60, 'default', 'a', 'g', 'no \"way\"'" + numbers +
             ", " + then + "1, 1, 2, 60, 'gone', 'b', '', ''" + numbers +
             ";INSERT INTO queue_minute VALUES " + then + "0, 0, 0), " + then +
             "(SELECT queue_id FROM queue WHERE name = 'default'), 12345, 1)");
  EXPECT_NE(over_socket({"minutes"}).find("≈12345"), std::string::npos);
  same_list({"minutes"});
  for (const std::string by : {"queue", "type", "error"}) {
    const Words words{"minutes", "--by", by, "--since", "2h", "--step", "5m"};
    EXPECT_NE(over_socket(words).find("default"), std::string::npos) << by;
    same_list(words);
  }
  const Words one{"minutes", "--queue", "default", "--by", "type"};
  EXPECT_EQ(over_socket(one).find("gone"), std::string::npos);
  same_list(one);
  same_refusal({"minutes", "--queue", "nosuch"}, kExitBadInput);
  same_refusal({"minutes", "--since", "8d"}, kExitBadInput);
}

TEST_F(RemoteOperate, AListHasMoreThanOnePage) {
  start();
  std::string lines;
  for (int i = 0; i < 1100; ++i)
    lines += R"({"queue":"default","type":"test.ok"})"
             "\n";
  over_socket({"submit", "--ndjson", "-"}, lines);
  same_list({"tasks", "--limit", "1050"});
  same_list({"tasks", "--limit", "5000"});
}

TEST_F(RemoteOperate, QueuesArePausedRatedAndResized) {
  start();
  submitted();
  EXPECT_EQ(over_socket({"queue", "pause", "default", "--reason", "a \"b\""}),
            "queue default is paused\n");
  same({"queue", "pause", "default"});  // since when
  same_list({"queue", "list"});
  EXPECT_EQ(over_socket({"queue", "resume", "default"}), "queue default goes on\n");
  same_list({"queue", "resume", "default"});
  EXPECT_EQ(over_socket({"queue", "rate", "default", "--per-second", "0.5", "--burst", "3"}),
            "queue default starts 0.5/s, burst 3\n");
  same_list({"queue", "rate", "default", "--per-second", "0.5", "--burst", "3"});
  same_list({"queue", "list"});
  EXPECT_EQ(over_socket({"queue", "rate", "default", "--off"}),
            "queue default has no rate any more\n");
  same_list({"queue", "rate", "default", "--off"});
  same_refusal({"queue", "rate", "default", "--per-second", "much"}, kExitBadInput);
  const std::string grown = over_socket({"queue", "resize", "default", "20"});
  EXPECT_TRUE(grown.starts_with("queue default has 20 partitions (before: ")) << grown;
  same_list({"queue", "resize", "default", "20"});
  const std::string shrunk = over_socket({"queue", "resize", "default", "1"});
  EXPECT_EQ(daemon_->allot({"queue", "resize", "default", "20"}).status, (ExitStatus{0, 0}));
  EXPECT_EQ(daemon_->allot({"queue", "resize", "default", "1"}).out, shrunk);
  for (const char* verb : {"pause", "resume"}) {
    same_refusal({"queue", verb, "nosuch"}, kExitBadInput);
    same_refusal({"queue", verb, ".."}, kExitBadInput);
    same_refusal({"queue", verb, ""}, kExitBadInput);
  }
  same_refusal({"queue", "resize", "nosuch", "3"}, kExitBadInput);
}

TEST_F(RemoteOperate, AQuestionIsAnsweredByYes) {
  start({}, "[queues.serial]\nplacement = \"limited\"\npartitions = 4\n");
  const Words later{"submit", "serial", "test.ok", "x", "--partition-key", "k", "--delay", "48h"};
  EXPECT_EQ(daemon_->allot(later).status, (ExitStatus{0, 0}));
  same_refusal({"queue", "resize", "serial", "8"}, kExitUsage);
  const Finished asked = over_socket_any({"queue", "resize", "serial", "8"});
  EXPECT_NE(asked.err.find("nothing was done, say it with --yes"), std::string::npos) << asked.err;
  EXPECT_EQ(asked.err.find("\"anyway\""), std::string::npos) << asked.err;
  const std::string done = over_socket({"queue", "resize", "serial", "8", "--yes"});
  EXPECT_NE(done.find("queue serial has 8 partitions (before: 4)\nnew tasks wait"),
            std::string::npos)
      << done;
}

TEST_F(RemoteOperate, RoutesAreSetAndRemoved) {
  start({}, "[queues.other]\n");
  submitted();
  EXPECT_EQ(daemon_->allot({"submit", "other", "t", "x"}).status, (ExitStatus{0, 0}));
  const std::string said = over_socket({"route", "set", "mail.*", "other", "--from", "default"});
  EXPECT_EQ(said, daemon_->allot({"route", "set", "mail.*", "other", "--from", "default"}).out);
  over_socket({"route", "set", "*", "other", "--any-queue"});
  same_list({"route", "list"});
  EXPECT_EQ(line_of(over_socket({"route", "remove", "*", "--any-queue"})),
            "tasks that name no queue go to queue other no more");
  over_socket({"route", "remove", "mail.*", "--from", "default"});
  EXPECT_EQ(over_socket({"route", "list", "--json"}), "[]\n");
  same_refusal({"route", "remove", "mail.*", "--from", "default"}, kExitBadInput);
  same_refusal({"route", "set", "a", "nosuch", "--from", "default"}, kExitBadInput);
  same_refusal({"route", "set", "a", "default", "--from", "default"}, kExitBadInput);
  const Words keep{"route", "set", "test.*", "other", "--from", "default", "--move"};
  const auto with = [](Words words, const Words& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  for (const Words& more : {Words{"--rate", "5"}, Words{"--any-queue"}}) {
    EXPECT_EQ(over_socket_any(with(keep, more)).status, (ExitStatus{kExitUsage, 0}));
  }
  const auto waiting = [&](const std::string& queue) {
    return daemon_->number("SELECT COUNT(*) FROM task JOIN queue USING (queue_id) WHERE name = '" +
                           queue + "'");
  };
  const auto here = waiting("default");
  const auto there = waiting("other");
  const std::string moved = over_socket(keep);
  EXPECT_NE(moved.find("\nmoved " + std::to_string(here) + " task"), std::string::npos) << moved;
  EXPECT_EQ(waiting("other"), there + here);
  const Words back{"queue", "move", "other", "default"};
  EXPECT_EQ(over_socket_any(back).status, (ExitStatus{kExitUsage, 0})) << "nobody was asked";
  EXPECT_EQ(over_socket(with(back, {"--yes", "--type", "t"})), "moved 1 task\n");
  const std::string told = over_socket(with(back, {"--yes", "--json"}));
  for (const char* field : {"chosen", "moved"}) {
    const std::string wanted =
        "\"" + std::string(field) + "\": " + std::to_string(here + there - 1);
    EXPECT_NE(told.find(wanted), std::string::npos) << wanted << told;
  }
  same_refusal({"queue", "move", "nosuch", "other", "--yes"}, kExitBadInput);
}

TEST_F(RemoteOperate, SchedulesAreMadeShownAndRemoved) {
  start();
  submitted();
  const auto add = [&](const std::string& name, const Words& more) {
    Words words{"schedule", "add", name, "0 3 1 1 *", "default", "test.ok", R"({"a": 1})"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  const Words policies{"--zone",       "Europe/Berlin", "--late",       "all",
                       "--late-after", "17s",           "--catch-up",   "7",
                       "--overlap",    "allow",         "--jitter",     "10s",
                       "--tick-field", "tick",          "--prio",       "2",
                       "--delay",      "300ms",         "--unique-key", "a/b",
                       "--unique-for", "90s",           "--expires-in", "2h"};
  const std::string made = over_socket(add("a", policies));
  const Finished near = daemon_->allot(add("b", policies));
  const auto said = [](const std::string& text) {  // the jitter is one of the name
    const std::size_t at = text.find(" is added");
    return text.substr(at, text.find(", with its jitter") - at);
  };
  EXPECT_EQ(said(made), said(near.out)) << near.err;
  same_list({"schedule", "show", "a"});
  same_refusal(add("a", policies), kExitBadInput);
  same_refusal(add("c", {"--zone", "No/Where"}), kExitBadInput);
  same_refusal(add("no name", {}), kExitBadInput);
  Words again = policies;
  again.emplace_back("--replace");
  EXPECT_NE(over_socket(add("a", again)).find("is as it was"), std::string::npos);
  EXPECT_NE(over_socket(add("a", {"--replace"})).find("is changed"), std::string::npos);
  same_list({"schedule", "show", "a"});
  Words binary = add("bytes", {});
  binary.back() = "\xff\xfe";  // no text, so JSON carries it as base64
  EXPECT_NE(over_socket(binary).find("is added"), std::string::npos);
  same_list({"schedule", "show", "bytes"});
  EXPECT_EQ(over_socket({"schedule", "remove", "bytes", "--yes"}), "schedule bytes is removed\n");
  EXPECT_EQ(over_socket({"schedule", "pause", "a", "--reason", "why"}), "schedule a is paused\n");
  same({"schedule", "pause", "a", "--reason", "why"});
  same_list({"schedule", "list"});
  EXPECT_EQ(over_socket({"schedule", "resume", "a"}), "schedule a goes on\n");
  same({"schedule", "resume", "a"});
  const std::string id = line_of(over_socket({"schedule", "run-now", "a"}));
  same({"task", "show", id});
  same_list({"schedule", "show", "a"});
  same_refusal({"schedule", "remove", "a"}, kExitUsage);  // without a terminal
  EXPECT_EQ(over_socket({"schedule", "remove", "a", "--yes"}), "schedule a is removed\n");
  for (const char* verb : {"show", "pause", "resume", "run-now", "remove"}) {
    same_refusal({"schedule", verb, "a"}, kExitBadInput);
    same_refusal({"schedule", verb, "../locks"}, kExitBadInput);
  }
}

TEST_F(RemoteOperate, LocksAreShownResizedAndBroken) {
  start();
  const Words hold{
      program("allot"), "--config", daemon_->config_file(), "lock", "run", "a/b \"c\"", "--",
      "sleep",          "600"};
  support::Process holder(hold, support::ProcessOptions{});
  const auto held = [&] {
    const json locks = json::parse(daemon_->allot({"lock", "list", "--json"}).out);
    return !locks.empty() && locks[0]["held"] == 1;
  };
  ASSERT_TRUE(eventually(held)) << holder.err();
  same_list({"lock", "list"});
  const std::string shown = over_socket({"lock", "show", "a/b \"c\""});
  EXPECT_TRUE(shown.starts_with("1 of 1 slots held\n\nSLOT")) << shown;
  same_refusal({"lock", "break", "a/b \"c\""}, kExitUsage);  // without a terminal
  EXPECT_EQ(over_socket({"lock", "break", "a/b \"c\"", "--slot", "7", "--yes"}),
            "0 slots broken\n");
  EXPECT_EQ(over_socket({"lock", "break", "a/b \"c\"", "--yes"}), "1 slots broken\n");
  same_list({"lock", "break", "a/b \"c\"", "--yes"});
  same_list({"lock", "resize", "a/b \"c\"", "3"});
  same_list({"lock", "show", "a/b \"c\""});
  same_refusal({"lock", "show", "nosuch"}, kExitBadInput);
  same_refusal({"lock", "break", "nosuch"}, kExitBadInput);
  same_refusal({"lock", "resize", "nosuch", "2"}, kExitBadInput);
  same_refusal({"lock", "resize", "a/b \"c\"", "0"}, kExitBadInput);
  holder.signal(SIGKILL);
}

TEST_F(RemoteOperate, DeadTasksAreRetriedAndDiscardedByTheirIds) {
  start();
  const std::string one = dead();
  const std::string two = dead();
  const std::string alive = submitted();
  same_refusal({"dead", "retry", one, alive}, kExitFailure);
  const Finished refused = over_socket_any({"dead", "retry", one, alive});
  EXPECT_EQ(refused.err, daemon_->allot({"dead", "retry", one, alive}).err);
  EXPECT_EQ(over_socket({"dead", "retry", one, one, two}), "retried 2 dead tasks\n");
  const std::string three = dead();
  EXPECT_EQ(json::parse(over_socket({"dead", "discard", three, "--json"})),
            json::parse(R"({"chosen": 1, "discarded": 1})"));
  same_refusal({"dead", "discard", three}, kExitFailure);
  same_refusal({"dead", "discard", "none"}, kExitUsage);
  EXPECT_EQ(daemon_->count("task"), 3U);
}

TEST_F(RemoteOperate, ManyDeadTasksAreABulkAction) {
  start();
  for (int i = 0; i < 3; ++i) dead();
  const Words all{"dead", "retry", "--queue", "default", "--all"};
  const Finished asked = over_socket_any(all);
  EXPECT_EQ(asked.status, (ExitStatus{kExitUsage, 0}));
  EXPECT_EQ(asked.err, daemon_->allot(all).err);
  same_refusal({"dead", "retry", "--group", "none"}, kExitFailure);
  const std::string begun =
      over_socket({"dead", "discard", "--queue", "default", "--all", "--yes", "--no-wait"});
  EXPECT_EQ(begun, "bulk action 1: allot bulk show 1\n");
  same_list({"bulk", "list"});
  same_list({"bulk", "show", "1"});
  EXPECT_EQ(over_socket({"bulk", "stop", "1"}),
            "bulk action 1 stopped: discarded 0 of 3 dead tasks of queue default\n");
  same_refusal({"bulk", "stop", "1"}, kExitFailure);
  same_refusal({"bulk", "show", "99"}, kExitBadInput);
  // With a steward it is waited for.
  EXPECT_EQ(daemon_->allot({"queue", "pause", "default"}).status, (ExitStatus{0, 0}));
  daemon_->start();
  const auto groups = json::parse(over_socket({"dead", "groups", "--json"}));
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(over_socket({"dead", "retry", "--group", groups[0]["group"], "--yes"}),
            "retried 3 dead tasks\n");
  same_list({"dead", "list"});
  EXPECT_EQ(over_socket({"dead", "retry", "--queue", "default", "--all"}),
            "retried 0 dead tasks\n");
}

TEST_F(RemoteOperate, LinesAreSubmittedInBatches) {
  start();
  submitted();
  const std::string good = R"({"queue":"default","type":"test.ok","payload":{"a":"\u00fc"}})"
                           "\n";
  const std::string keyed = R"({"queue":"default","type":"test.ok","unique_key":"k"})"
                            "\n";
  const Finished ids = over_socket_any({"submit", "--ndjson", "-", "--batch", "2", "--ids"},
                                       good + "\n" + good + keyed);
  EXPECT_EQ(ids.status, (ExitStatus{0, 0})) << ids.err;
  EXPECT_EQ(std::count(ids.out.begin(), ids.out.end(), '\n'), 3);
  EXPECT_EQ(ids.err, "submitted 3 tasks in 2 batches\n");
  same({"task", "show", line_of(ids.out), "--payload"});
  EXPECT_EQ(daemon_->count("task"), 4U);
  const auto both = [&](const Words& more, const std::string& input) {
    Words words{"submit", "--ndjson", "-", "--batch", "2"};
    words.insert(words.end(), more.begin(), more.end());
    const Finished other = over_socket_any(words, input);
    const Finished near = daemon_->allot(words, input);
    EXPECT_EQ(other.status, near.status) << other.err;
    EXPECT_EQ(other.out, near.out);
    EXPECT_EQ(other.err, near.err);
    return other;
  };
  EXPECT_EQ(both({"--json"}, keyed + good + keyed).status, (ExitStatus{0, 0}));
  EXPECT_EQ(both({}, keyed + good + keyed).status, (ExitStatus{0, 0}));
  // A line that the client refuses itself, and how to go on.
  EXPECT_EQ(both({}, good + good + good + "{\n").status, (ExitStatus{kExitBadInput, 0}));
  EXPECT_EQ(both({"--json"}, good + "{\n").status, (ExitStatus{kExitBadInput, 0}));
  both({"--json", "--from-line", "3"}, "{\n{\n" + good);
  // One that only the gateway can refuse.
  const std::string stray = R"({"queue":"nosuch","type":"test.ok"})"
                            "\n";
  const Finished refused = over_socket_any({"submit", "--ndjson", "-", "--batch", "2"},
                                           good + good + "\n" + good + stray);
  EXPECT_EQ(refused.status, (ExitStatus{kExitBadInput, 0}));
  EXPECT_NE(refused.err.find("stdin:5: "), std::string::npos) << refused.err;
  EXPECT_NE(refused.err.find("lines 1 to 2 submitted (2 tasks), nothing from line 4 on; fix the "
                             "line; go on with --from-line 4"),
            std::string::npos)
      << refused.err;
}

TEST_F(RemoteOperate, ALargeBodyDoesNotHideThatTheTokenIsRefused) {
  start_with_port();
  const Words words{"--url", url_to(port_.number()), "submit", "default", "test.ok", "-"};
  const std::string payload(std::size_t{8} << 20, 'x');
  const Finished refused = far(words, {"ALLOT_TOKEN=" + token_ + "x"}, payload);
  EXPECT_EQ(refused.status, (ExitStatus{kExitConfig, 0})) << refused.err;
  const Finished taken = far(words, {"ALLOT_TOKEN=" + token_}, payload);
  EXPECT_EQ(taken.status, (ExitStatus{0, 0})) << taken.err;
  EXPECT_EQ(daemon_->count("task"), 1U);
}

TEST(RemoteLines, AnAnswerWithoutItsLastLineIsOfUnknownOutcome) {
  const std::string type = "application/x-ndjson";
  const std::string line = R"({"queue":"q","type":"t"})"
                           "\n";
  const Words words{"submit", "--ndjson", "-", "--json"};
  const std::string batch = R"({"first_line":1,"last_line":1,"tasks":1,"existed":0})"
                            "\n";
  for (const std::string& body : {std::string(), batch, batch + R"({"ok":)"}) {
    const Finished done = answered(answer(type, body), words, line);
    EXPECT_EQ(done.status, (ExitStatus{kExitOutcomeUnknown, 0})) << done.err;
    EXPECT_EQ(json::parse(done.out)["unknown_lines"], json::parse("[1, 1]")) << done.out;
  }
  const std::string away =
      R"({"ok":false,"problem":{"status":503,"detail":"too much waits already"}})"
      "\n";
  const Finished done = answered(answer(type, away), words, line);
  EXPECT_EQ(done.status, (ExitStatus{kExitUnavailable, 0})) << done.err;
  EXPECT_EQ(json::parse(done.out)["next_line"], 1) << done.out;
}

}  // namespace
}  // namespace allot::e2e::remote_operate_test
