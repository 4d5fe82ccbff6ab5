// SPDX-License-Identifier: Apache-2.0
// Submitting a task, and several.
#include "queue/submit/submit.h"

#include <map>
#include <set>

#include "base/names.h"
#include "contract/fixture.h"
#include "db/route_table.h"
#include "queue/model/compression.h"
#include "queue/model/headers.h"
#include "queue/model/task.h"
#include "support/commit_stop.h"
#include "support/eventually.h"

namespace allot::contract {
namespace {

const char* const kInjection = "x'); DROP TABLE task; -- ";

std::string all_bytes() {
  std::string all;
  for (int c = 0; c < 256; ++c) all += static_cast<char>(c);
  return all;
}

// No part of it repeats soon, so that a lost or doubled piece shows.
std::string large(std::size_t size, unsigned char from, unsigned char to) {
  std::string bytes(size, '\0');
  for (std::size_t i = 0; i < size; ++i) {
    bytes[i] = static_cast<char>(from + (i * 7 + i / 256) % (to - from + 1U));
  }
  return bytes;
}

class SubmitRule : public Rule {
 protected:
  // Both ways of the interface, where the task can be written down; `look` at each answer.
  template <typename Look>
  void by_each_way(const Task& task, Look&& look) {
    if (interface().takes(task)) look(interface().submit(task));
    if (interface().takes_many(task)) look(interface().submit_many({task}));
  }
  // Sizes are printed, and not bytes: some are large.
  void expect_back(const std::string& name, const std::string& payload) {
    by_each_way({.payload = payload}, [&](const Answer& made) {
      EXPECT_EQ(made.kind, Kind::kDone) << name << ": " << made;
      auto results = look().execute("SELECT payload FROM task");
      const auto row = results.front().next();
      ASSERT_TRUE(row) << name;
      EXPECT_EQ(row->text(0).size(), payload.size()) << name;
      EXPECT_TRUE(row->text(0) == payload) << name;
      look().execute("DELETE FROM task");
    });
  }
  void expect_nothing() {
    EXPECT_EQ(count("task"), 0U);
    EXPECT_EQ(count("task_unique"), 0U);
    EXPECT_EQ(count("queue"), 5U);
  }
};

TEST_P(SubmitRule, ATaskIsThereUnderItsIdOnceItIsAnswered) {
  const Answer made =
      interface().submit({.type = "mail.send", .payload = "hello", .options = {{"prio", "2"}}});
  ASSERT_EQ(made.kind, Kind::kDone) << made;
  EXPECT_EQ(made.existed, 0U);
  const auto id = queue::TaskId::parse(made.id());
  ASSERT_TRUE(id) << made;
  EXPECT_EQ(id->text(), made.id());
  EXPECT_EQ(
      value("SELECT CONCAT_WS('|', type, payload, prio, partition_no, run_key, flags, attempt,"
            " first_key IS NULL) FROM task"),
      "mail.send|hello|2|" + std::to_string(id->partition.partition_no) + "|" +
          std::to_string(id->first_key) + "|0|0|1");
  EXPECT_EQ(count("task"), 1U);
}

// The minutes until the task is due.
constexpr const char* kDueIn =
    "SELECT ROUND(TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), '2025-01-01' +"
    " INTERVAL (run_key >> 12) MICROSECOND) / 60000000) FROM task";
// Up to two seconds are added.
constexpr const char* kDueAt =
    "SELECT ROUND(TIMESTAMPDIFF(MICROSECOND, '2149-12-31 18:00:00', '2025-01-01' +"
    " INTERVAL (run_key >> 12) MICROSECOND) / 2200000) FROM task";
constexpr const char* kParent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

struct Option {
  std::map<std::string, std::string> options;
  std::string sql;
  std::string value;
};

TEST_P(SubmitRule, EachOptionDoesWhatItsNameSays) {
  const Option cases[] = {
      {{}, kDueIn, "0"},
      {{}, "SELECT prio FROM task", std::to_string(queue::kDefaultPrio)},
      {{{"prio", "3"}}, "SELECT prio FROM task", "3"},
      {{{"delay", "2h"}}, kDueIn, "120"},
      {{{"run_at", "2149-12-31T18:00:00Z"}}, kDueAt, "0"},
      {{{"run_at", "1969-07-20T20:17:40Z"}}, kDueIn, "0"},
      {{{"unique_key", "k"}, {"unique_for", "300ms"}},
       "SELECT CONCAT(unique_key, unique_for_us, free_at IS NULL) FROM task_unique",
       "k3000001"},
      {{{"unique_key", "k"}}, "SELECT flags FROM task", std::to_string(queue::kUniqueFlag)},
      {{{"unique_key", "k"}},
       "SELECT unique_for_us FROM task_unique",
       std::to_string(queue::SubmitOptions().unique_for.count())},
      {{{"expires_in", "2h"}},
       "SELECT TIMESTAMPDIFF(MINUTE, UTC_TIMESTAMP(6), expires_at) FROM task",
       "119"},
      {{{"expires_at", "2149-12-31T18:00:00.25Z"}},
       "SELECT expires_at FROM task",
       "2149-12-31 18:00:00.250000"},
      {{{"compress_above", "999"}},
       "SELECT flags & " + std::to_string(queue::kGzipFlag | queue::kZstdFlag) + " > 0 FROM task",
       "1"},
      {{{"compress_above", "1000"}}, "SELECT flags FROM task", "0"},
      {{{"max_attempts", "3"}}, "SELECT headers FROM task", "max_attempts=3"},
      {{{"max_losses", "3"}, {"max_attempts", "5"}, {"label", "mail out"}},
       "SELECT headers FROM task",
       "label=mail out\nmax_attempts=5\nmax_losses=3"},
      {{{"time_limit", "90s"}}, "SELECT headers FROM task", "time_limit=90000"},
      {{{"time_limit", "720h"}, {"max_attempts", "3"}},
       "SELECT headers FROM task",
       "max_attempts=3\ntime_limit=2592000000"},
      {{{"traceparent", kParent}, {"tracestate", "a=1,b=2"}},
       "SELECT headers FROM task",
       queue::Headers{0, queue::trace_of(kParent, "a=1,b=2")}.text()},
      {{{"traceparent", "00-0-0-00"}, {"tracestate", "a=1"}},
       "SELECT COALESCE(headers, 'none') FROM task",
       "none"}};
  for (const Option& each : cases) {
    const Task task{.payload = std::string(1000, 'a'), .options = each.options};
    by_each_way(task, [&](const Answer& made) {
      EXPECT_EQ(made.kind, Kind::kDone) << made;
      EXPECT_EQ(value(each.sql), each.value) << each.sql << json(each.options);
      look().execute("DELETE FROM task; DELETE FROM task_unique");
    });
  }
}

TEST_P(SubmitRule, EveryPayloadArrivesAsItIs) {
  const std::string utf8 = "\xc3\xa9\xe2\x82\xac\xf0\x9f\x8e\x84\xc2\x80\xef\xbf\xbf";
  const std::pair<const char*, std::string> payloads[] = {
      {"empty", ""},
      {"a space", " a "},
      {"quotes", "'\"`\\'\\\\\"\\"},
      {"percent", "%s%n%%d%00 :queue_id ? @id ${x} $(x)\r\n\x1a"},
      {"sql", std::string(kInjection) + "\\'; DELETE FROM queue; # /*! x */"},
      {"option", "--delay=5m"},
      {"unicode", utf8},
      {"json", R"({"payload": ["\u0000", "\\"], "queue": 1})"},
      {"list", "[]"},
      {"nul", std::string("\0a\0\0b\0", 6)},
      {"control", all_bytes().substr(0, 128)},
      {"all", all_bytes() + all_bytes()},
      {"invalid", "\xff\xfe\xc3\x28\xed\xa0\x80\xf5\xbf\x5c'"},
      {"long text", large(524'288, 0, 127)},
      {"long", large(524'288, 0, 255)}};
  for (const auto& [name, payload] : payloads) expect_back(name, payload);
  EXPECT_EQ(count("queue"), 5U);
}

TEST_P(SubmitRule, TheLargestPayloadArrivesAndOneByteMoreIsRefused) {
  const std::string payload = large(queue::kMaxPayload, 0, 255);
  EXPECT_EQ(interface().submit({.payload = payload}).kind, Kind::kDone);
  EXPECT_TRUE(value("SELECT payload FROM task") == payload);  // not printed
  look().execute("DELETE FROM task");
  const Answer refused = interface().submit({.payload = payload + "x"});
  EXPECT_EQ(refused.kind, Kind::kBadInput) << refused;
  EXPECT_TRUE(names(refused, "payload") || names(refused, "too large")) << refused;
  expect_nothing();
}

TEST_P(SubmitRule, ATakenUniqueKeyAnswersWithTheFirstTask) {
  const Task unique{.payload = "first", .options = {{"unique_key", "k"}}};
  const std::string id = put(unique);
  Task again = unique;
  again.payload = "again";
  by_each_way(again, [&](const Answer& made) {
    EXPECT_EQ(made.kind, Kind::kDone) << made;
    EXPECT_EQ(made.existed, 1U) << made;
    EXPECT_EQ(made.id(), id) << made;
  });
  EXPECT_EQ(value("SELECT GROUP_CONCAT(payload) FROM task"), "first");
  Task elsewhere = unique;
  elsewhere.queue = "narrow";
  EXPECT_NE(put(elsewhere), id) << "keys belong to a queue";
}

TEST_P(SubmitRule, AKeyIsFreeAgainAfterItsTime) {
  const Task unique{.options = {{"unique_key", "k"}}};
  const std::string first = put(unique);
  finish();
  EXPECT_EQ(interface().submit(unique).id(), first);
  EXPECT_EQ(count("task"), 0U);
  look().execute("UPDATE task_unique SET free_at = UTC_TIMESTAMP(6)");
  const Answer later = interface().submit(unique);
  EXPECT_EQ(later.existed, 0U);
  EXPECT_NE(later.id(), first);
  EXPECT_EQ(value("SELECT COUNT(*) FROM task_unique WHERE free_at IS NULL"), "1");
}

TEST_P(SubmitRule, KeysAreBytesAndNothingElse) {
  const std::string keys[] = {
      kInjection,          "\\'; DELETE FROM queue; #", "%s`\"\\\\",          "k ", "k", "K",
      "\xc3\xa9' OR ''='", std::string(255, '\''),      std::string("k\0", 2)};
  std::uint64_t submitted = 0;
  for (const std::string& key : keys) {
    const Task task{.queue = "fair", .options = {{"unique_key", key}, {"partition_key", key}}};
    std::vector<Answer> made;
    by_each_way(task, [&](const Answer& each) { made.push_back(each); });
    if (made.empty()) continue;
    EXPECT_EQ(made.front().existed, 0U) << key << made.front();
    EXPECT_EQ(made.back().id(), made.front().id()) << key << made.back();
    EXPECT_EQ(
        value("SELECT COUNT(*) FROM task_unique WHERE unique_key = " + db::Statement::quoted(key)),
        "1")
        << key;
    EXPECT_EQ(value("SELECT COUNT(*) FROM fair_partition WHERE partition_key = " +
                    db::Statement::quoted(key)),
              "1")
        << key;
    ++submitted;
  }
  EXPECT_GE(submitted, std::size(keys) - 1);
  EXPECT_EQ(count("task_unique"), submitted);
  EXPECT_EQ(count("fair_partition WHERE partition_key > ''"), submitted);
}

TEST_P(SubmitRule, SeveralAreAnsweredInTheirOrder) {
  std::vector<Task> tasks;
  for (int i = 0; i < 100; ++i) {
    Task task{.queue = i % 3 == 0 ? "narrow" : "default",
              .type = "t" + std::to_string(i % 7),
              .payload = std::to_string(i),
              .options = {{"prio", std::to_string(i % 4)}}};
    if (i % 5 == 0) task.options["unique_key"] = std::to_string(i * 37 % 40);
    tasks.push_back(task);
  }
  const Answer made = interface().submit_many(tasks);
  ASSERT_EQ(made.made.size(), tasks.size()) << made;
  std::map<std::string, std::string> owners;  // of the key of a queue
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const auto key = tasks[i].options.find("unique_key");
    if (key != tasks[i].options.end()) {
      const auto [owner, first] =
          owners.emplace(tasks[i].queue + " " + key->second, made.made[i].id);
      EXPECT_EQ(made.made[i].id, owner->second) << i << ": the first of them has it";
      if (!first) continue;
    }
    const auto id = queue::TaskId::parse(made.made[i].id);
    ASSERT_TRUE(id) << i;
    EXPECT_EQ(
        value("SELECT CONCAT_WS('|', name, type, payload, prio) FROM task JOIN queue USING"
              " (queue_id) WHERE run_key = " +
              std::to_string(id->first_key) +
              " AND partition_no = " + std::to_string(id->partition.partition_no) +
              " AND queue_id = " + std::to_string(id->partition.queue_id)),
        tasks[i].queue + "|" + tasks[i].type + "|" + tasks[i].payload + "|" + std::to_string(i % 4))
        << i;
  }
  EXPECT_EQ(count("task"), 80 + owners.size());
  EXPECT_EQ(made.existed, 20 - owners.size());
}

// S18.
TEST_P(SubmitRule, NeighboursGoToDifferentPartitions) {
  std::set<std::uint32_t> alone;
  for (int i = 0; i < 100 && alone.size() < 4; ++i) {
    alone.insert(queue::TaskId::parse(put())->partition.partition_no);
  }
  EXPECT_EQ(alone.size(), 4U);
  look().execute("DELETE FROM task");
  EXPECT_EQ(interface().submit_many({{}, {}, {}, {}}).made.size(), 4U);
  EXPECT_EQ(value("SELECT COUNT(DISTINCT partition_no) FROM task"), "4");
}

// By each placement, the partition that every other interface chooses too.
TEST_P(SubmitRule, AKeyGoesWhereItGoesFromEverywhere) {
  for (const char* name : {"ordered", "limited", "fair"}) {
    for (const std::string key : {"customer 1", "customer 2"}) {
      std::set<std::uint32_t> places;
      queue::Submission task{queue(name), "t", "", {}};
      task.options.partition_key = key;
      for (int i = 0; i < 40; ++i) {
        places.insert(queue::submit(look(), {&task, 1}).front().id.partition.partition_no);
      }
      EXPECT_EQ(places.size(), name == std::string("limited") ? 2U : 1U);
      by_each_way({.queue = name, .options = {{"partition_key", key}}}, [&](const Answer& made) {
        const auto id = queue::TaskId::parse(made.id());
        ASSERT_TRUE(id) << made;
        EXPECT_TRUE(places.contains(id->partition.partition_no)) << name << " " << key;
      });
    }
  }
}

// The interfaces that remember where a queue's tasks go ask again within a second.
TEST_P(SubmitRule, ARouteIsFollowedWithinASecond) {
  const auto goes_to = [&](const Answer& made) {
    const auto id = queue::TaskId::parse(made.id());
    return id ? queue::queue_name(look(), id->partition.queue_id) : "";
  };
  EXPECT_EQ(goes_to(interface().submit({.type = "mail.send"})), "default");
  queue::set_route(look(), queue("default"), queue::pattern_of("mail.*"), queue("narrow"));
  const auto set = std::chrono::steady_clock::now();
  auto strayed = set;  // when the last one that did not follow was sent
  EXPECT_TRUE(support::eventually([&] {
    const auto sent = std::chrono::steady_clock::now();
    if (goes_to(interface().submit({.type = "mail.send"})) == "narrow") return true;
    strayed = sent;
    return false;
  }));
  EXPECT_LT(strayed - set, std::chrono::milliseconds(1500)) << "and what a busy machine adds";
  by_each_way({.type = "mail.send"},
              [&](const Answer& made) { EXPECT_EQ(goes_to(made), "narrow"); });
  EXPECT_EQ(goes_to(interface().submit({.type = "sms"})), "default");
}

// S79; two types that differ in their last byte stay two.
TEST_P(SubmitRule, ATypeOf127BytesIsKeptWhole) {
  for (const char last : {'a', 'b'}) {
    const std::string type = std::string(kMaxTypeName - 1, 'x') + last;
    by_each_way({.type = type, .options = {{"unique_key", "k"}}}, [&](const Answer& made) {
      EXPECT_EQ(made.kind, Kind::kDone) << made;
      EXPECT_EQ(value("SELECT type FROM task"), type);
      look().execute("DELETE FROM task; DELETE FROM task_unique");
    });
    by_each_way({.type = type}, [&](const Answer& made) {
      EXPECT_EQ(made.kind, Kind::kDone) << made;
      EXPECT_EQ(value("SELECT type FROM task"), type);
      look().execute("DELETE FROM task");
    });
    queue::set_route(look(), queue("default"), queue::pattern_of(type), queue("narrow"));
  }
  EXPECT_EQ(queue::list_routes(look()).size(), 2U);
}

struct WrongTask {
  Task task;
  const char* field;
};

std::vector<WrongTask> tasks_that_break_the_order(const std::string& soon) {
  const std::pair<std::map<std::string, std::string>, const char*> breaks[] = {
      {{{"prio", "0"}}, "prio would break the order"},
      {{{"delay", "1s"}}, "delay would break the order"},
      {{{"unique_key", "k"}}, "unique_key would break the order"},
      {{{"run_at", soon}}, "run_at would break the order"}};
  std::vector<WrongTask> all;
  for (const auto& [fields, field] : breaks) {
    WrongTask wrong{{.queue = "ordered", .options = fields}, field};
    wrong.task.options["partition_key"] = "k";
    all.push_back(wrong);
  }
  return all;
}

std::vector<WrongTask> wrong_tasks() {
  const std::string long_name(kMaxTypeName + 1, 'a');
  std::vector<WrongTask> all{
      {{.queue = std::string(64, 'q')}, "queue"}, {{.queue = std::string(7'000, 'q')}, "queue"},
      {{.queue = kInjection}, "queue"},           {{.queue = "DEFAULT"}, "queue"},
      {{.queue = "default "}, "queue"},           {{.queue = "default' OR ''='"}, "queue"},
      {{.queue = "missing"}, "queue 'missing'"},  {{.queue = "ordered"}, "partition_key"},
      {{.queue = "limited"}, "partition_key"}};
  for (const std::string& type :
       {std::string(), long_name, std::string(100'000, 'a'), std::string("a b"), std::string("a\n"),
        std::string("\xc3\xa9"), std::string(kInjection), std::string("t\0", 2),
        std::string("\xff"), std::string("`task`")}) {
    all.push_back({{.type = type}, "1 to 127 of A-Z a-z 0-9 . _ - are allowed"});
  }
  const std::string soon = "2030-01-01T00:00:00Z";
  const std::pair<std::map<std::string, std::string>, const char*> options[] = {
      {{{"prio", "4"}}, "prio"},
      {{{"prio", "-1"}}, "prio"},
      {{{"prio", "1.5"}}, "prio"},
      {{{"delay", "-5s"}}, "delay"},
      {{{"delay", "5"}}, "delay"},
      {{{"delay", "5 s"}}, "delay"},
      {{{"delay", "soon"}}, "delay"},
      {{{"delay", "900000h"}}, "delay"},
      {{{"delay", "1s"}, {"run_at", soon}}, "run_at"},
      {{{"run_at", "2030-01-01T00:00:00"}}, "run_at"},
      {{{"run_at", "2030-02-29T00:00:00Z"}}, "run_at"},
      {{{"run_at", "2150-01-01T00:00:00Z"}}, "run_at"},
      {{{"unique_key", ""}}, "unique_key"},
      {{{"unique_key", std::string(256, 'k')}}, "unique_key"},
      {{{"unique_key", "k"}, {"unique_for", "-1s"}}, "unique_for"},
      {{{"partition_key", ""}}, "partition_key"},
      {{{"partition_key", std::string(256, 'k')}}, "partition_key"},
      {{{"partition_key", "k"}}, "neither ordered nor limited nor fair"},
      {{{"expires_in", "x"}}, "expires_in"},
      {{{"expires_at", "2030"}}, "expires_at"},
      {{{"expires_in", "1s"}, {"expires_at", soon}}, "expires_at"},
      {{{"expires_in", "1s"}, {"delay", "1s"}}, "the task expires before it is due"},
      {{{"expires_at", soon}, {"run_at", soon}}, "the task expires before it is due"},
      {{{"compress_above", "-1"}}, "compress_above"},
      {{{"max_attempts", "0"}}, "max_attempts"},
      {{{"max_attempts", "100001"}}, "max_attempts"},
      {{{"max_losses", "0"}}, "max_losses"},
      {{{"label", "a\tb"}}, "label"},
      {{{"label", std::string(128, 'l')}}, "label"},
      {{{"time_limit", "0s"}}, "time_limit"},
      {{{"time_limit", "999ms"}}, "time_limit"},
      {{{"time_limit", "721h"}}, "time_limit"},
      {{{"time_limit", "90"}}, "time_limit"},
      {{{"dellay", "5m"}}, "dellay"}};
  for (const auto& [fields, field] : options) all.push_back({{.options = fields}, field});
  for (WrongTask& wrong : tasks_that_break_the_order(soon)) all.push_back(std::move(wrong));
  return all;
}

TEST_P(SubmitRule, InvalidFieldIsNamedAndNothingIsSubmitted) {
  for (const WrongTask& wrong : wrong_tasks()) {
    by_each_way(wrong.task, [&](const Answer& refused) {
      EXPECT_TRUE(refuses(refused, wrong.field)) << wrong.task.type << json(wrong.task.options);
    });
  }
  expect_nothing();
}

TEST_P(SubmitRule, OneWrongTaskRefusesAll) {
  const Task good{.options = {{"unique_key", "k"}}};
  const std::pair<Task, const char*> wrong[] = {{{.type = "a type"}, "type"},
                                                {{.queue = "missing"}, "queue 'missing'"},
                                                {{.queue = "ordered"}, "partition_key"},
                                                {{.options = {{"prio", "9"}}}, "prio"}};
  for (const auto& [task, field] : wrong) {
    if (!interface().takes_many(task)) continue;
    const Answer refused = interface().submit_many({good, {}, task, {}});
    EXPECT_TRUE(refuses(refused, field));
    EXPECT_TRUE(names(refused, "task 2") || names(refused, "task 3") || names(refused, ":3:"))
        << "which one it is: " << refused;
  }
  expect_nothing();
}

// With the server's default of 16 MiB the statement around the largest payload does not fit.
class PacketRule : public SubmitRule {
 protected:
  void SetUp() override { set("16777216"); }
  void TearDown() override { set("67108864"); }

 private:
  static void set(const std::string& bytes) {
    support::Database::shared().connect().execute("SET GLOBAL max_allowed_packet = " + bytes);
  }
};

TEST_P(PacketRule, PacketThatTheServerRefusesIsReported) {
  const Answer refused = interface().submit({.payload = large(queue::kMaxPayload, 0, 255)});
  EXPECT_NE(refused.kind, Kind::kDone);
  // A statement of one's own is the server's to refuse: it hangs up, maybe before its words. What
  // the gateway knows of its database is in its log.
  EXPECT_TRUE(names(refused, "max_allowed_packet") || names(refused, "(error 2006)") ||
              names(refused, "(error 2013)") || names(refused, "gateway.refused"))
      << refused;
  expect_nothing();
}

RULES_OF(SubmitRule, Can::kSubmit);
RULES_OF(PacketRule, Can::kSubmit);

class PayloadRule : public Rule {};

TEST_P(PayloadRule, TheLargestComesBackAsItIs) {
  const queue::Submission task{queue("default"), "t", large(queue::kMaxPayload, 0, 255), {}};
  const std::string id = queue::submit(look(), {&task, 1}).front().id.text();
  const Answer shown = interface().payload(id);
  EXPECT_EQ(shown.kind, Kind::kDone) << shown.text;
  EXPECT_TRUE(shown.word == task.payload) << shown.word.size();
}

RULES_OF(PayloadRule, Can::kShowPayloads);

class ReplyRule : public Rule {};

TEST_P(ReplyRule, ALostReplyIsUnknown) {
  world_.limit_calls(std::chrono::seconds(1));
  put({.payload = "first"});
  Answer lost;
  {
    db::Connection stopper = world_.connect();
    const support::CommitStop stop(stopper);
    lost = interface().submit({.payload = "second"});
  }
  EXPECT_EQ(lost.kind, Kind::kOutcomeUnknown) << lost;
  EXPECT_TRUE(names(lost, "unknown")) << lost;
  EXPECT_TRUE(lost.made.empty()) << lost;
  const auto others = [&] {
    return value(
               "SELECT COUNT(*) FROM information_schema.processlist WHERE id <> CONNECTION_ID()"
               " AND db = DATABASE() AND command <> 'Sleep'") == "0";
  };
  EXPECT_TRUE(support::eventually(others));
  EXPECT_LE(count("task WHERE payload = 'second'"), 1U) << "it is not sent again";
  EXPECT_EQ(count("task WHERE payload = 'first'"), 1U);
}

TEST_P(ReplyRule, ADatabaseThatIsAwayIsUnavailable) {
  world_.move_away();
  const Answer refused = interface().submit({});
  EXPECT_EQ(refused.kind, Kind::kUnavailable) << refused;
  EXPECT_EQ(count("task"), 0U);
}

RULES_OF(ReplyRule, Can::kLoseReplies);

}  // namespace
}  // namespace allot::contract
