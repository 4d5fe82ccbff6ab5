// SPDX-License-Identifier: Apache-2.0
// The command line over HTTP says what it says over the database: the same words, the same output,
// the same exit code.
#include <algorithm>
#include <atomic>
#include <thread>

#include "base/exit_codes.h"
#include "contract/fixture.h"
#include "queue/locks/lock_store.h"
#include "queue/operate/bulk_work.h"
#include "support/command_line.h"
#include "support/eventually.h"

namespace allot::contract {
namespace {

using support::Finished;
using Words = std::vector<std::string>;

std::string line_of(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

class RemoteTest : public testing::Test {
 protected:
  RemoteTest() { world_.keep_history(); }

  Finished local(Words words, const std::string& input = {}) {
    words.insert(words.begin(), {"--config", world_.config_file()});
    return support::run_allot(words, input);
  }
  Finished remote(Words words, const std::string& input = {}) {
    words.insert(words.begin(), {"--url", world_.gateway_url()});
    return support::run_allot(words, input);
  }
  // Over HTTP; expects that it goes well.
  std::string must(const Words& words, const std::string& input = {}) {
    const Finished done = remote(words, input);
    EXPECT_EQ(done.status.code, kExitOk) << testing::PrintToString(words) << done.err;
    return done.out;
  }
  void same(const Words& words) {
    const Finished here = local(words);
    const Finished there = remote(words);
    EXPECT_EQ(here.status.code, kExitOk) << testing::PrintToString(words) << here.err;
    EXPECT_EQ(there.status, here.status) << testing::PrintToString(words) << there.err;
    EXPECT_EQ(there.out, here.out) << testing::PrintToString(words);
    EXPECT_EQ(there.err, here.err) << testing::PrintToString(words);
    EXPECT_FALSE(here.out.empty()) << testing::PrintToString(words);
  }
  // As text and as JSON.
  void same_list(Words words) {
    same(words);
    words.emplace_back("--json");
    same(words);
  }
  // Refused by both with that code, if not in the same words.
  void same_refusal(const Words& words, int code) {
    const Finished here = local(words);
    EXPECT_EQ(here.status.code, code) << testing::PrintToString(words) << here.err;
    EXPECT_EQ(remote(words).status.code, code) << testing::PrintToString(words);
  }
  // Output of a command that changes something: over HTTP, and then the same on both paths.
  void says(const Words& words, const std::string& text) {
    EXPECT_EQ(must(words), text) << testing::PrintToString(words);
  }
  std::string submitted(const std::string& payload = "x") {
    return line_of(local({"submit", "default", "test.ok", payload}).out);
  }
  std::string dead() {
    const std::string id = submitted();
    EXPECT_EQ(local({"task", "cancel", id}).status.code, kExitOk);
    return id;
  }
  std::uint64_t count(const std::string& table) {
    return support::number_of(world_.look(), "SELECT COUNT(*) FROM " + table);
  }

  World world_;
};

TEST_F(RemoteTest, ATaskIsSubmittedAndShown) {
  const Words options{
      "--prio",       "2",   "--run-at",     "2149-12-24T18:00:00.25Z", "--unique-key",     "a/b c",
      "--unique-for", "90s", "--expires-at", "2149-12-25T18:00:00Z",    "--compress-above", "100"};
  const std::string payload = std::string(5000, 'x') + '\0' + "\xff\n";
  Words words{"submit", "default", "test.ok", "-"};
  words.insert(words.end(), options.begin(), options.end());
  const std::string id = line_of(must(words, payload));
  EXPECT_EQ(must({"task", "show", id, "--payload"}), payload);
  same({"task", "show", id, "--payload"});
  same_list({"task", "show", id});
  same_list({"task", "find", "default", "--unique-key", "a/b c"});
  same_list({"why", id});
  const json shown = json::parse(local({"task", "show", id, "--json"}).out);
  EXPECT_TRUE(shown["due_at"].get<std::string>().starts_with("2149-12-24T18:00:00.")) << shown;
  EXPECT_LT(shown["payload_size"], 1000);
  // Its key is taken, which both ways say in the same words.
  const Finished again = remote(words, payload);
  EXPECT_EQ(again.out, local(words, payload).out);
  EXPECT_NE(again.err.find("this task already has the unique key (waiting)"), std::string::npos);
  words.emplace_back("--json");
  EXPECT_EQ(must(words, payload), local(words, payload).out);
  EXPECT_EQ(count("task"), 1U);
  same_refusal({"task", "show", "0840dqg2v5n80r00"}, kExitFailure);
  same_refusal({"task", "show", "not-an-id"}, kExitUsage);
  EXPECT_EQ(remote({"submit", "default", "t", "x", "--compression", "gzip"}).status.code,
            kExitUsage);
}

TEST_F(RemoteTest, ACancelledTaskIsDeadOrDone) {
  const std::string id = submitted();
  says({"task", "cancel", id, "--reason", "no \"longer\""}, "cancelled " + id + "\n");
  same({"task", "show", id});
  same({"why", id});
  EXPECT_EQ(remote({"task", "cancel", id}).err, local({"task", "cancel", id}).err)
      << "dead already";
  const std::string other = submitted();
  must({"task", "cancel", other, "--as-done"});
  same_list({"task", "show", other});
}

TEST_F(RemoteTest, ListsAreThoseOfTheDatabase) {
  for (int i = 0; i < 3; ++i) submitted(std::string(static_cast<std::size_t>(i), 'x'));
  for (int i = 0; i < 3; ++i) dead();
  const std::string done = submitted();
  must({"task", "cancel", done, "--as-done"});
  for (const Words& words : {Words{"tasks"},
                             {"tasks", "--queue", "default", "--limit", "2"},
                             {"dead", "list"},
                             {"dead", "list", "default", "--limit", "1"},
                             {"dead", "groups"},
                             {"history"},
                             {"history", "--queue", "default", "--type", "test.ok"},
                             {"history", "--type", "no.such"},
                             {"queue", "list"}}) {
    same_list(words);
  }
  same_refusal({"tasks", "--queue", "nosuch"}, kExitBadInput);
  same_refusal({"dead", "list", "nosuch"}, kExitBadInput);
  same_refusal({"history", "--queue", "no such"}, kExitBadInput);
  same_list({"history", "--after", done});
  same_refusal({"history", "--after", submitted()}, kExitFailure);
}

// Findings of two steps ago, by a steward that has ended.
TEST_F(RemoteTest, MinutesAreThoseOfTheDatabase) {
  const std::string then = "(UTC_TIMESTAMP() - INTERVAL 120 + SECOND(UTC_TIMESTAMP()) SECOND, ";
  const std::string numbers = ", 5, 2, 0, 0, 1, 0, 1, 900000, 7, 1, 0, 0, 0, 0)";
  world_.look().execute("INSERT INTO attempt_minute VALUES " + then +
                        "1, 1, 0, 60, 'default', 'a', '', ''" + numbers + ", " + then +
                        "1, 1, 1, 60, 'default', 'a', 'g', 'no \"way\"'" + numbers + ", " + then +
                        "1, 1, 2, 60, 'gone', 'b', '', ''" + numbers +
                        ";INSERT INTO queue_minute VALUES " + then + "0, 0, 0), " + then +
                        "(SELECT queue_id FROM queue WHERE name = 'default'), 12345, 1)");
  EXPECT_NE(must({"minutes"}).find("≈12345"), std::string::npos);
  same_list({"minutes"});
  for (const std::string by : {"queue", "type", "error"}) {
    const Words words{"minutes", "--by", by, "--since", "2h", "--step", "5m"};
    EXPECT_NE(must(words).find("default"), std::string::npos) << by;
    same_list(words);
  }
  EXPECT_NE(must({"failures"}).find("way"), std::string::npos);
  same_list({"failures"});
  same_list({"failures", "default", "--since", "2h"});
  same_refusal({"failures", "nosuch"}, kExitBadInput);
  same_refusal({"failures", "--since", "8d"}, kExitBadInput);
  const Words one{"minutes", "--queue", "default", "--by", "type"};
  EXPECT_EQ(must(one).find("gone"), std::string::npos);
  same_list(one);
  same_refusal({"minutes", "--queue", "nosuch"}, kExitBadInput);
  same_refusal({"minutes", "--since", "8d"}, kExitBadInput);
}

TEST_F(RemoteTest, AListHasMoreThanOnePage) {
  std::string lines;
  for (int i = 0; i < 1100; ++i)
    lines += R"({"queue":"default","type":"test.ok"})"
             "\n";
  must({"submit", "--ndjson", "-"}, lines);
  same_list({"tasks", "--limit", "1050"});
  same_list({"tasks", "--limit", "5000"});
}

TEST_F(RemoteTest, QueuesArePausedRatedAndResized) {
  says({"queue", "pause", "default", "--reason", "a \"b\""}, "queue default is paused\n");
  same_list({"queue", "pause", "default", "--reason", "a \"b\""});
  same_list({"queue", "list"});
  says({"queue", "resume", "default"}, "queue default is resumed\n");
  same_list({"queue", "resume", "default"});
  says({"queue", "rate", "default", "--per-second", "0.5", "--burst", "3"},
       "queue default starts 0.5/s, burst 3\n");
  same_list({"queue", "rate", "default", "--per-second", "0.5", "--burst", "3"});
  same_list({"queue", "list"});
  says({"queue", "cap", "default", "3"}, "queue default runs up to 3 tasks at a time\n");
  same_list({"queue", "cap", "default", "3"});
  says({"queue", "cap", "default", "--off"}, "queue default runs any number of tasks at a time\n");
  says({"queue", "rate", "default", "--off"}, "queue default no longer has a rate\n");
  same_list({"queue", "rate", "default", "--off"});
  says({"queue", "resize", "default", "20"}, "queue default has 20 partitions (before: 4)\n");
  same_list({"queue", "resize", "default", "20"});
  const std::string shrunk = must({"queue", "resize", "default", "1"});
  must({"queue", "resize", "default", "20"});
  EXPECT_EQ(local({"queue", "resize", "default", "1"}).out, shrunk);
}

TEST_F(RemoteTest, AQuestionIsAnsweredByYes) {
  must({"submit", "limited", "test.ok", "x", "--partition-key", "k", "--delay", "48h"});
  const Words resize{"queue", "resize", "limited", "8"};
  same_refusal(resize, kExitUsage);
  const Finished asked = remote(resize);
  EXPECT_NE(asked.err.find("nothing was done; confirm with --yes"), std::string::npos) << asked.err;
  EXPECT_EQ(asked.err.find("\"confirm\""), std::string::npos) << asked.err;
  const std::string done = must({"queue", "resize", "limited", "8", "--yes"});
  EXPECT_NE(done.find("queue limited has 8 partitions (before: 4)\nnew tasks wait"),
            std::string::npos)
      << done;
}

TEST_F(RemoteTest, RoutesAreSetAndRemoved) {
  submitted();
  must({"submit", "narrow", "t", "x"});
  const Words set{"route", "set", "mail.*", "narrow", "--from", "default"};
  EXPECT_EQ(must(set), local(set).out);
  must({"route", "set", "*", "narrow", "--any-queue"});
  same_list({"route", "list"});
  EXPECT_EQ(line_of(must({"route", "remove", "*", "--any-queue"})),
            "tasks that name no queue no longer go to queue narrow");
  must({"route", "remove", "mail.*", "--from", "default"});
  says({"route", "list", "--json"}, "[]\n");
  same_refusal({"route", "remove", "mail.*", "--from", "default"}, kExitBadInput);
  same_refusal({"route", "set", "a", "nosuch", "--from", "default"}, kExitBadInput);
  same_refusal({"route", "set", "a", "default", "--from", "default"}, kExitBadInput);
  const auto with = [](Words words, const Words& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  const Words move{"route", "set", "test.*", "narrow", "--from", "default", "--move"};
  const std::string moved = must(with(move, {"--rate", "5"}));
  EXPECT_NE(moved.find("\nmoved 1 task"), std::string::npos) << moved;
  const Words back{"queue", "move", "narrow", "default"};
  EXPECT_EQ(remote(back).status.code, kExitUsage) << "it was not asked";
  says(with(back, {"--yes", "--type", "t"}), "moved 1 task\n");
  const json told = json::parse(must(with(back, {"--yes", "--json"})));
  EXPECT_EQ(told.at("tasks"), 1);
  EXPECT_EQ(told.at("moved"), 1);
  same_refusal({"queue", "move", "nosuch", "narrow", "--yes"}, kExitBadInput);
}

TEST_F(RemoteTest, SchedulesAreMadeShownAndRemoved) {
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
  const std::string made = must(add("a", policies));
  const Finished here = local(add("b", policies));
  const auto said = [](const std::string& text) {  // the jitter is one of the name
    const std::size_t at = text.find(" is added");
    return text.substr(at, text.find(", with its jitter") - at);
  };
  EXPECT_EQ(said(made), said(here.out)) << here.err;
  same_list({"schedule", "show", "a"});
  same_list({"schedule", "next", "a"});
  same_refusal(add("a", policies), kExitBadInput);
  Words again = policies;
  again.emplace_back("--replace");
  EXPECT_NE(must(add("a", again)).find("is unchanged"), std::string::npos);
  EXPECT_NE(must(add("a", {"--replace"})).find("is changed"), std::string::npos);
  same_list({"schedule", "show", "a"});
  Words binary = add("bytes", {});
  binary.back() = "\xff\xfe";  // no text, so JSON carries it as base64
  must(binary);
  same_list({"schedule", "show", "bytes"});
  says({"schedule", "remove", "bytes", "--yes"}, "schedule bytes is removed\n");
  says({"schedule", "pause", "a", "--reason", "why"}, "schedule a is paused\n");
  same({"schedule", "pause", "a", "--reason", "why"});
  same_list({"schedule", "list"});
  says({"schedule", "resume", "a"}, "schedule a is resumed\n");
  same({"schedule", "resume", "a"});
  same({"task", "show", line_of(must({"schedule", "run-now", "a"}))});
  same_list({"schedule", "show", "a"});
  same_refusal({"schedule", "remove", "a"}, kExitUsage);  // without a terminal
  says({"schedule", "remove", "a", "--yes"}, "schedule a is removed\n");
}

TEST_F(RemoteTest, LocksAreShownResizedAndBroken) {
  const std::string name = "a/b \"c\"";
  queue::ensure_lock(world_.look(), name, 1);
  const queue::Holder holder = queue::make_holder("", "");
  queue::TokenFloor floor;
  const std::uint64_t ticket = queue::draw_ticket(world_.look(), name, holder);
  ASSERT_TRUE(queue::take_lock(
      world_.look(), {name, 0, ticket, holder, std::chrono::milliseconds(60'000)}, floor));
  same_list({"lock", "list"});
  const std::string shown = must({"lock", "show", name});
  EXPECT_TRUE(shown.starts_with("1 of 1 slots held\n\nSLOT")) << shown;
  same_refusal({"lock", "break", name}, kExitUsage);  // without a terminal
  says({"lock", "break", name, "--slot", "7", "--yes"}, "0 slots broken\n");
  says({"lock", "break", name, "--yes"}, "1 slots broken\n");
  same_list({"lock", "break", name, "--yes"});
  same_list({"lock", "resize", name, "3"});
  same_list({"lock", "show", name});
  same_refusal({"lock", "show", "nosuch"}, kExitBadInput);
}

TEST_F(RemoteTest, DeadTasksAreRetriedAndDiscardedByTheirIds) {
  const std::string one = dead();
  const std::string two = dead();
  const std::string alive = submitted();
  same_refusal({"dead", "retry", one, alive}, kExitFailure);
  EXPECT_EQ(remote({"dead", "retry", one, alive}).err, local({"dead", "retry", one, alive}).err);
  says({"dead", "retry", one, one, two}, "retried 2 dead tasks\n");
  const std::string three = dead();
  EXPECT_EQ(json::parse(must({"dead", "discard", three, "--json"})),
            json::parse(R"({"tasks": 1, "discarded": 1})"));
  same_refusal({"dead", "discard", "none"}, kExitUsage);
  EXPECT_EQ(count("task"), 3U);
}

TEST_F(RemoteTest, ManyDeadTasksAreABulkAction) {
  for (int i = 0; i < 3; ++i) dead();
  const Words all{"dead", "retry", "--queue", "default", "--all"};
  const Finished asked = remote(all);
  EXPECT_EQ(asked.status.code, kExitUsage);
  EXPECT_EQ(asked.err, local(all).err);
  same_refusal({"dead", "retry", "--group", "none"}, kExitFailure);
  const std::string begun =
      must({"dead", "discard", "--queue", "default", "--all", "--yes", "--no-wait"});
  const std::string number =
      begun.substr(begun.rfind(' ') + 1, begun.rfind('\n') - begun.rfind(' ') - 1);
  EXPECT_EQ(begun, "bulk action " + number + ": allot bulk show " + number + "\n");
  same_list({"bulk", "list"});
  same_list({"bulk", "show", number});
  says({"bulk", "stop", number},
       "bulk action " + number + " stopped: discarded 0 of 3 dead tasks of queue default\n");
  same_refusal({"bulk", "stop", number}, kExitFailure);
  same_refusal({"bulk", "show", "4711"}, kExitBadInput);
  // With a steward it is waited for.
  std::atomic<bool> over{false};
  std::thread steward([&] {
    db::Connection db = world_.connect();
    while (!over) {
      const auto next = support::value_of(
          db, "SELECT COALESCE(MAX(action_id), 0) FROM bulk_action WHERE action_id > " + number);
      if (next != "0") (void)queue::work_bulk(db, std::stoull(next));
    }
  });
  const auto groups = json::parse(must({"dead", "groups", "--json"}));
  ASSERT_EQ(groups.size(), 1U);
  says({"dead", "retry", "--group", groups[0]["group"], "--yes"}, "retried 3 dead tasks\n");
  over = true;
  steward.join();
  EXPECT_EQ(count("task"), 3U);
  says(all, "retried 0 dead tasks\n");
}

TEST_F(RemoteTest, LinesAreSubmittedInBatches) {
  const std::string good = R"({"queue":"default","type":"test.ok","payload":{"a":"\u00fc"}})"
                           "\n";
  const std::string keyed = R"({"queue":"default","type":"test.ok","unique_key":"k"})"
                            "\n";
  const Finished ids =
      remote({"submit", "--ndjson", "-", "--batch", "2", "--ids"}, good + "\n" + good + keyed);
  EXPECT_EQ(ids.status.code, kExitOk) << ids.err;
  EXPECT_EQ(std::count(ids.out.begin(), ids.out.end(), '\n'), 3);
  EXPECT_EQ(ids.err, "submitted 3 tasks in 2 batches\n");
  same({"task", "show", line_of(ids.out), "--payload"});
  EXPECT_EQ(count("task"), 3U);
  const auto both = [&](const Words& more, const std::string& input, int code) {
    Words words{"submit", "--ndjson", "-", "--batch", "2"};
    words.insert(words.end(), more.begin(), more.end());
    const Finished there = remote(words, input);
    const Finished here = local(words, input);
    EXPECT_EQ(there.status.code, code) << there.err;
    EXPECT_EQ(there.status, here.status) << there.err;
    EXPECT_EQ(there.out, here.out);
    EXPECT_EQ(there.err, here.err);
  };
  both({"--json"}, keyed + good + keyed, kExitOk);
  both({}, keyed + good + keyed, kExitOk);
  // A line that the client refuses itself, and how to continue.
  both({}, good + good + good + "{\n", kExitBadInput);
  both({"--json"}, good + "{\n", kExitBadInput);
  both({"--json", "--from-line", "3"}, "{\n{\n" + good, kExitOk);
  // One that only the gateway can refuse.
  const Finished refused = remote({"submit", "--ndjson", "-", "--batch", "2"},
                                  good + good + "\n" + good +
                                      R"({"queue":"nosuch","type":"test.ok"})"
                                      "\n");
  EXPECT_EQ(refused.status.code, kExitBadInput);
  EXPECT_NE(refused.err.find("stdin:5: "), std::string::npos) << refused.err;
  EXPECT_NE(refused.err.find("lines 1 to 2 submitted (2 tasks), nothing from line 4 on; fix the "
                             "line; continue with --from-line 4"),
            std::string::npos)
      << refused.err;
}

}  // namespace
}  // namespace allot::contract
