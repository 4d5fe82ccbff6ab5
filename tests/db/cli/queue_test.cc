// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "base/exit_codes.h"
#include "db/cli/fixture.h"

namespace allot::cli {
namespace {

using nlohmann::json;

class QueueTest : public CliTest {
 protected:
  QueueTest() { must({"migrate"}); }
  json queues() { return json::parse(must({"queue", "list", "--json"})); }
};

TEST_F(QueueTest, TheListSaysWhichArePaused) {
  EXPECT_EQ(
      queues(),
      json::parse(
          R"([{"name": "default", "partitions": 1, "paused": null, "rate": null, "cap": null, "resizing": false},
                                      {"name": "wide", "partitions": 8, "paused": null, "rate": null, "cap": null, "resizing": false}])"));
  EXPECT_EQ(must({"queue", "pause", "wide", "--reason", "the mail server moves"}),
            "queue wide is paused\n");
  const json paused = queues().at(1).at("paused");
  EXPECT_EQ(paused.at("reason"), "the mail server moves");
  const std::string since = paused.at("since");
  const std::string text = "since " + since + ": the mail server moves\n";
  EXPECT_TRUE(has(must({"queue", "list"}), "default           1  no\n"));
  EXPECT_TRUE(has(must({"queue", "list"}), "wide              8  " + text));
  EXPECT_TRUE(has(must({"status"}), text));
  const json status = json::parse(must({"status", "--json"}));
  EXPECT_EQ(status.at("queues").at(1).at("paused"), paused);
  EXPECT_TRUE(status.at("queues").at(0).at("paused").is_null());
  EXPECT_EQ(must({"queue", "pause", "wide"}), "queue wide is paused since " + since + " already\n");
  EXPECT_EQ(queues().at(1).at("paused").at("reason"), "");
}

TEST_F(QueueTest, OneThatOnlyTheConfigurationKnowsIsMadePaused) {
  configure("[queues.wide]", "[queues.later]\npartitions = 2\n[queues.wide]");
  EXPECT_EQ(must({"queue", "pause", "later"}), "queue later is paused\n");
  EXPECT_EQ(queues().at(1).at("name"), "later");
  EXPECT_FALSE(queues().at(1).at("paused").is_null());
}

TEST_F(QueueTest, ResumeTellsWhetherItWasPaused) {
  const json paused = json::parse(must({"queue", "pause", "default", "--json"}));
  EXPECT_EQ(paused.at("name"), "default");
  EXPECT_EQ(paused.at("paused").at("reason"), "");
  EXPECT_EQ(must({"queue", "resume", "default"}), "queue default is resumed\n");
  EXPECT_EQ(must({"queue", "resume", "default"}), "queue default was not paused\n");
  EXPECT_TRUE(json::parse(must({"queue", "resume", "default", "--json"})).at("paused").is_null());
  EXPECT_FALSE(has(must({"status"}), "PAUSED").operator bool()) << "no column without a pause";
}

TEST_F(QueueTest, ARateIsSetShownAndRemoved) {
  EXPECT_EQ(must({"queue", "rate", "wide", "--per-second", "0.5"}),
            "queue wide starts 0.5/s, burst 1\n");
  EXPECT_EQ(queues().at(1).at("rate"), json::parse(R"({"per_second": 0.5, "burst": 1})"));
  EXPECT_TRUE(queues().at(1).at("paused").is_null());
  EXPECT_TRUE(has(must({"queue", "list"}), "wide              8  0.5/s, burst 1  no\n"));
  EXPECT_EQ(must({"queue", "rate", "wide", "--per-second", "0.50"}),
            "queue wide already starts 0.5/s, burst 1\n");
  const json changed =
      json::parse(must({"queue", "rate", "wide", "--per-second", "5", "--burst", "7", "--json"}));
  EXPECT_EQ(changed.at("rate"), json::parse(R"({"per_second": 5.0, "burst": 7})"));
  EXPECT_EQ(must({"queue", "rate", "wide", "--off"}), "queue wide no longer has a rate\n");
  EXPECT_EQ(must({"queue", "rate", "wide", "--off"}), "queue wide had no rate\n");
  EXPECT_FALSE(has(must({"queue", "list"}), "RATE").operator bool()) << "no column without a rate";
  EXPECT_EQ(must({"queue", "cap", "wide", "3"}), "queue wide runs up to 3 tasks at a time\n");
  EXPECT_EQ(queues().at(1).at("cap"), 3);
  EXPECT_TRUE(has(must({"queue", "list"}), "CAP"));
  EXPECT_EQ(must({"queue", "cap", "wide", "--off"}),
            "queue wide runs any number of tasks at a time\n");
  EXPECT_TRUE(queues().at(1).at("cap").is_null());
}

TEST_F(QueueTest, BadInputIsNamed) {
  const auto unknown = allot({"queue", "pause", "wied"});
  EXPECT_EQ(unknown.status.code, kExitBadInput);
  EXPECT_TRUE(has(unknown.err, "queue 'wied' does not exist; did you mean 'wide'?"));
  for (const char* name : {"", "' OR 1=1 --"}) {
    EXPECT_EQ(allot({"queue", "pause", name}).status.code, kExitBadInput) << name;
    EXPECT_EQ(allot({"queue", "resume", name}).status.code, kExitBadInput) << name;
  }
  const auto longer = allot({"queue", "pause", "wide", "--reason", std::string(256, 'x')});
  EXPECT_EQ(longer.status.code, kExitBadInput);
  EXPECT_EQ(longer.err, "allot: --reason has 256 bytes; the limit is 255\n");
  EXPECT_TRUE(
      has(allot({"queue", "rate", "wide", "--per-second=five"}).err, "--per-second is 'five'"));
  EXPECT_TRUE(has(allot({"queue", "rate", "wide", "--per-second=1", "--burst=0.5"}).err,
                  "--burst is '0.5'"));
  for (const Words& words :
       {Words{"queue"}, Words{"queue", "pause"}, Words{"queue", "list", "x"},
        Words{"queue", "list", "--reason", "r"}, Words{"queue", "rate", "wide"},
        Words{"queue", "cap", "wide"}, Words{"queue", "cap", "wide", "3", "--off"},
        Words{"queue", "rate", "wide", "--off", "--per-second", "1"},
        Words{"queue", "resize", "wide", "many"}}) {
    EXPECT_EQ(allot(words).status.code, kExitUsage) << testing::PrintToString(words);
  }
  EXPECT_EQ(count("queue_pause"), 0U);
  const std::string odd = "'; DROP TABLE task; -- \x1b[31m";
  must({"queue", "pause", "wide", "--reason", odd});
  EXPECT_EQ(queues().at(1).at("paused").at("reason"), odd);
  EXPECT_TRUE(has(must({"queue", "list"}), "\\x1b[31m"));
}

}  // namespace
}  // namespace allot::cli
