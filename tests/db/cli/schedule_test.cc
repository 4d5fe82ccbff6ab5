// SPDX-License-Identifier: Apache-2.0
// allot schedule: add, list, show, next, pause, resume, run-now and remove.
#include <nlohmann/json.hpp>

#include "base/exit_codes.h"
#include "db/cli/fixture.h"

namespace allot::cli {
namespace {

using nlohmann::json;

class ScheduleTest : public CliTest {
 protected:
  ScheduleTest() { must({"migrate"}); }

  json show(const std::string& name) {
    return json::parse(must({"schedule", "show", name, "--json"}));
  }
  // Expects that the words are refused with that line, and that nothing is written.
  void refuse(const Words& words, const std::string& line, const std::string& input = {}) {
    const std::string before = everything();
    const auto done = allot_with(words, input);
    EXPECT_EQ(done.status.code, kExitBadInput) << testing::PrintToString(words) << done.err;
    EXPECT_EQ(done.err, "allot: " + line + "\n") << testing::PrintToString(words);
    EXPECT_EQ(everything(), before) << testing::PrintToString(words);
  }
  // allot schedule add with a valid schedule, except for these words.
  static Words adds(const std::string& expression, Words more = {}) {
    Words words{"schedule", "add", "s", expression, "default", "t"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
};

TEST_F(ScheduleTest, IsAddedWithAllThatTheWordsSay) {
  const std::string said = must({"schedule",
                                 "add",
                                 "nightly",
                                 "15 3 * * *",
                                 "wide",
                                 "report",
                                 R"({"a": 1})",
                                 "--zone",
                                 "Europe/Berlin",
                                 "--late",
                                 "all",
                                 "--late-after",
                                 "5m",
                                 "--catch-up",
                                 "7",
                                 "--overlap",
                                 "wait",
                                 "--jitter",
                                 "10s",
                                 "--tick-field",
                                 "at",
                                 "--prio",
                                 "2",
                                 "--delay",
                                 "3s",
                                 "--expires-in",
                                 "1h"});
  EXPECT_TRUE(has(said, "schedule nightly is added; it runs first at 2"));
  EXPECT_TRUE(has(said, " 03:15:00 +0"));
  EXPECT_TRUE(has(said, " in Europe/Berlin, with its jitter at "));
  EXPECT_TRUE(has(must({"schedule", "show", "nightly"}), "late           all after 5m, at most 7"));
  EXPECT_TRUE(has(must({"schedule", "list"}), "nightly  15 3 * * *  Europe/Berlin  wide   report"));
}

TEST_F(ScheduleTest, KeysAndAPayloadOfStandardInput) {
  configure("[queues.wide]", "[queues.led]\nplacement = \"fair\"\n[queues.wide]");
  must({"schedule", "add", "keyed", "@every 90s", "led", "t", "-", "--unique-key", "k",
        "--unique-for", "2m", "--partition-key", "p"},
       "two\nlines");
  const json made = show("keyed");
  EXPECT_EQ(made.at("payload"), "two\nlines");
  EXPECT_EQ(made.at("unique_key"), "k");
  EXPECT_EQ(made.at("unique_for"), "2m");
  EXPECT_EQ(made.at("partition_key"), "p");
  EXPECT_EQ(made.at("overlap"), "allow");
  EXPECT_EQ(value("SELECT COUNT(*) FROM queue WHERE name = 'led'"), "1") << "it is made, too";
}

TEST_F(ScheduleTest, AnExistingNameNeedsReplace) {
  must(adds("@hourly"));
  refuse(adds("@daily"), "name 's': a schedule with this name exists; --replace changes it");
  const std::uint64_t version = show("s").at("version");
  EXPECT_TRUE(has(must(adds("@hourly", {"--replace"})), "schedule s is unchanged"));
  EXPECT_EQ(show("s").at("version"), version);
  EXPECT_TRUE(has(must(adds("@daily", {"--replace"})), "schedule s is changed; it runs next at 2"));
  EXPECT_EQ(show("s").at("expression"), "@daily");
  EXPECT_GT(show("s").at("version"), version);
  EXPECT_EQ(value("SELECT TIME(next_run) FROM schedule"), "00:00:00.000000");
}

TEST_F(ScheduleTest, AQueueThatIsNotThereOrRefusesItsTasks) {
  const auto unknown = allot({"schedule", "add", "s", "@daily", "wied", "t"});
  EXPECT_EQ(unknown.status.code, kExitBadInput);
  EXPECT_TRUE(has(unknown.err, "queue 'wied' does not exist; did you mean 'wide'?"));
  // The configured placement of a queue that does not exist yet; nothing creates it.
  configure("[queues.wide]", "[queues.later]\nplacement = \"ordered\"\n[queues.wide]");
  refuse({"schedule", "add", "s", "@daily", "later", "t"},
         "queue 'later' is ordered: its tasks need a partition_key");
}

TEST_F(ScheduleTest, WrongWords) {
  for (const Words& words :
       {Words{"schedule"}, Words{"schedule", "add", "s"}, adds("@daily", {"--late", "never"}),
        adds("@daily", {"--overlap", "x"}), adds("@daily", {"--catch-up", "0"}),
        adds("@daily", {"--catch-up", "1001"}), adds("@daily", {"--prio", "4"}),
        adds("@daily", {"--unique-for", "1s"}), Words{"schedule", "next"},
        Words{"schedule", "next", "s", "--expression", "@daily"},
        Words{"schedule", "next", "s", "--zone", "UTC"}}) {
    EXPECT_EQ(allot(words).status.code, kExitUsage) << testing::PrintToString(words);
  }
  EXPECT_EQ(count("schedule"), 0U);
}

TEST_F(ScheduleTest, UnknownScheduleIsNamed) {
  must({"schedule", "add", "nightly", "@daily", "default", "t"});
  for (const Words& words :
       {Words{"schedule", "show", "nighly"}, Words{"schedule", "next", "nighly"},
        Words{"schedule", "pause", "nighly"}, Words{"schedule", "resume", "nighly"},
        Words{"schedule", "run-now", "nighly"}, Words{"schedule", "remove", "nighly", "--yes"}}) {
    refuse(words, "schedule 'nighly' does not exist; did you mean 'nightly'?");
  }
}

TEST_F(ScheduleTest, NextNeedsNoDatabaseForAnExpression) {
  configure("name = \"" + name_, "name = \"nowhere");
  const json runs = json::parse(must({"schedule", "next", "--expression", "30 2 * * *", "--zone",
                                      "Asia/Kolkata", "--count", "3", "--json"}));
  ASSERT_EQ(runs.size(), 3U);
  for (const json& run : runs) {
    EXPECT_TRUE(has(run.at("utc"), "T21:00:00Z"));
    EXPECT_TRUE(has(run.at("local"), " 02:30:00 +05:30"));
  }
  EXPECT_TRUE(
      has(must({"schedule", "next", "--expression", "@daily"}), "UTC                   UTC"));
}

TEST_F(ScheduleTest, NextOfAScheduleBeginsWithItsNextTick) {
  must(adds("0 12 * * *"));
  observer_.execute("UPDATE schedule SET next_run = '2031-05-01 12:00:00'");
  const json runs = json::parse(must({"schedule", "next", "s", "--count", "2", "--json"}));
  EXPECT_EQ(runs.at(0).at("utc"), "2031-05-01T12:00:00Z");
  EXPECT_EQ(runs.at(1).at("utc"), "2031-05-02T12:00:00Z");
}

TEST_F(ScheduleTest, PauseAndResume) {
  must(adds("@daily"));
  EXPECT_EQ(must({"schedule", "pause", "s", "--reason", "the printer is off"}),
            "schedule s is paused\n");
  EXPECT_EQ(show("s").at("paused").at("reason"), "the printer is off");
  const std::string since = show("s").at("paused").at("since");
  EXPECT_TRUE(has(must({"schedule", "list"}), "paused since " + since + ": the printer is off"));
  EXPECT_EQ(must({"schedule", "pause", "s"}),
            "schedule s was already paused, since " + since + "\n");
  EXPECT_EQ(show("s").at("paused").at("reason"), "");
  EXPECT_TRUE(has(allot({"schedule", "next", "s"}).err, "is paused since " + since));
  EXPECT_EQ(must({"schedule", "resume", "s"}), "schedule s is resumed\n");
  EXPECT_EQ(must({"schedule", "resume", "s"}), "schedule s was not paused\n");
  EXPECT_TRUE(show("s").at("paused").is_null());
  refuse({"schedule", "pause", "s", "--reason", std::string(256, 'x')},
         "--reason has 256 bytes; the limit is 255");
}

TEST_F(ScheduleTest, RunNowMakesATaskAndTellsIt) {
  must(adds("@daily", {R"({"a": 1})", "--tick-field", "at", "--prio", "3", "--overlap", "skip"}));
  must({"schedule", "pause", "s"});
  std::string id = must({"schedule", "run-now", "s"});
  id.pop_back();
  const json task = json::parse(must({"task", "show", id, "--json"}));
  EXPECT_EQ(task.at("queue"), "default");
  EXPECT_EQ(task.at("type"), "t");
  EXPECT_EQ(task.at("prio"), 3);
  ASSERT_EQ(payloads().size(), 1U);
  EXPECT_TRUE(has(payloads().front(), R"({"at":"2)"));
  EXPECT_TRUE(has(payloads().front(), R"(","a": 1})"));
  EXPECT_TRUE(has(must({"schedule", "show", "s"}), id + "  run now"));
  EXPECT_NE(json::parse(must({"schedule", "run-now", "s", "--json"})).at("task"), id)
      << "whatever overlap says";
}

TEST_F(ScheduleTest, RemoveAsks) {
  must(adds("@daily"));
  must({"schedule", "run-now", "s"});
  const auto asked = allot({"schedule", "remove", "s"});
  EXPECT_EQ(asked.status.code, kExitUsage);
  EXPECT_TRUE(has(asked.err, "remove would affect schedule s (@daily); nothing was done"));
  EXPECT_EQ(count("schedule"), 1U);
  EXPECT_EQ(must({"schedule", "remove", "s", "--yes"}), "schedule s is removed\n");
  EXPECT_EQ(count("schedule") + count("schedule_tick"), 0U);
  EXPECT_EQ(count("task"), 1U) << "tasks stay";
}

}  // namespace
}  // namespace allot::cli
