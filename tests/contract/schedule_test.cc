// SPDX-License-Identifier: Apache-2.0
// Schedules: made and changed; paused, run and removed.
#include "base/names.h"
#include "contract/fixture.h"
#include "queue/model/task.h"
#include "queue/schedules/schedule_store.h"

namespace allot::contract {
namespace {

class MakeScheduleRule : public Rule {
 protected:
  json made(const Schedule& schedule) {
    const Answer answer = interface().make_schedule(schedule);
    EXPECT_EQ(answer.kind, Kind::kDone) << answer;
    return interface().schedule(schedule.name).document;
  }
};

TEST_P(MakeScheduleRule, HasAllThatItsWordsSay) {
  const Schedule nightly{.name = "nightly",
                         .expression = "15 3 * * *",
                         .queue = "narrow",
                         .type = "report",
                         .payload = R"({"a": 1})",
                         .options = {{"zone", "Europe/Berlin"},
                                     {"late", "all"},
                                     {"late_after", "5m"},
                                     {"catch_up", "7"},
                                     {"overlap", "wait"},
                                     {"jitter", "10s"},
                                     {"tick_field", "at"},
                                     {"prio", "2"},
                                     {"delay", "3s"},
                                     {"expires_in", "1h"}}};
  const json shown = made(nightly);
  json wanted = fields_of(nightly.options);
  wanted.update({{"name", "nightly"},
                 {"expression", "15 3 * * *"},
                 {"queue", "narrow"},
                 {"type", "report"},
                 {"payload", R"({"a": 1})"},
                 {"paused", nullptr},
                 {"last_task", nullptr},
                 {"last_ticks", json::array()}});
  for (const auto& [field, value] : wanted.items()) EXPECT_EQ(shown.at(field), value) << field;
  EXPECT_EQ(value("SELECT next_run > UTC_TIMESTAMP(6) FROM schedule"), "1");
  EXPECT_EQ(value("SELECT TIME(next_run) IN ('01:15:00', '02:15:00') FROM schedule"), "1");
}

TEST_P(MakeScheduleRule, HasKeysAndAnyPayload) {
  const json shown =
      made({.queue = "fair",
            .payload = "two\nlines",
            .options = {{"unique_key", "k"}, {"unique_for", "2m"}, {"partition_key", "p"}}});
  EXPECT_EQ(shown.at("payload"), "two\nlines");
  EXPECT_EQ(shown.at("unique_key"), "k");
  EXPECT_EQ(shown.at("unique_for"), "2m");
  EXPECT_EQ(shown.at("partition_key"), "p");
  EXPECT_EQ(shown.at("overlap"), "allow");
  const json binary = made({.name = "binary", .payload = std::string("\xff\0a", 3)});
  EXPECT_EQ(value("SELECT HEX(payload) FROM schedule WHERE name = 'binary'"), "FF0061");
  EXPECT_EQ(binary.at("payload"), nullptr);
  EXPECT_EQ(binary.at("payload_base64"), "/wBh");
}

TEST_P(MakeScheduleRule, AnotherOneOfItsNameChangesIt) {
  const std::uint64_t version = made({.expression = "@hourly"}).at("version");
  EXPECT_EQ(made({.expression = "@hourly"}).at("version"), version) << "it is unchanged";
  const json changed = made({.expression = "@daily", .options = {{"prio", "2"}}});
  EXPECT_EQ(changed.at("expression"), "@daily");
  EXPECT_EQ(changed.at("prio"), 2);
  EXPECT_GT(changed.at("version"), version);
  EXPECT_EQ(value("SELECT TIME(next_run) FROM schedule"), "00:00:00.000000");
}

struct WrongSchedule {
  Schedule schedule;
  const char* words = nullptr;
};

TEST_P(MakeScheduleRule, InvalidFieldIsNamedAndNoScheduleIsMade) {
  const auto with = [](std::map<std::string, std::string> options) {
    return Schedule{.options = std::move(options)};
  };
  const WrongSchedule all[] = {
      {{.name = std::string(64, 'n')}, "name"},
      {{.name = "a b"}, "name"},
      {{.expression = "61 * * * *"}, "expression: schedule '61 * * * *': minute"},
      {{.expression = "0 0 31 2 *"}, "would never run"},
      {{.expression = "@every 0s"}, "the period is at least 1s"},
      {{.expression = ""}, "expression"},
      {{.queue = "missing"}, "queue"},
      {{.queue = "default "}, "queue"},
      {{.queue = "ordered"}, "queue 'ordered' is ordered: its tasks need a partition_key"},
      {{.queue = "ordered", .options = {{"partition_key", "k"}, {"delay", "5s"}}},
       "queue 'ordered' is ordered: delay would break the order of its tasks"},
      {{.queue = "ordered", .options = {{"partition_key", "k"}, {"overlap", "skip"}}},
       "overlap 'skip': queue 'ordered' is ordered"},
      {{.type = "t t"}, "type 't t': 1 to 127 of A-Z a-z 0-9 . _ - are allowed"},
      {{.type = ""}, "type"},
      {{.type = std::string(kMaxTypeName + 1, 't')}, "1 to 127 of A-Z a-z 0-9 . _ - are allowed"},
      {{.payload = "[1]", .options = {{"tick_field", "at"}}},
       "payload: with tick_field 'at' it must be a JSON object"},
      {{.payload = R"({"at": 1})", .options = {{"tick_field", "at"}}},
       "tick_field: the payload has a field 'at' already"},
      {with({{"zone", "Mars/Olympus"}}), "zone 'Mars/Olympus': no such file"},
      {with({{"zone", "../etc/passwd"}}), "zone '../etc/passwd': not a time zone name"},
      {with({{"zone", "localtime"}}), "zone 'localtime': not a time zone name"},
      {with({{"zone", "/etc/passwd"}}), "zone '/etc/passwd': not a time zone name"},
      {with({{"zone", ""}}), "zone '': not a time zone name"},
      {with({{"late", "never"}}), "late"},
      {with({{"late_after", "soon"}}), "late_after"},
      {with({{"overlap", "perhaps"}}), "overlap"},
      {with({{"overlap", "skip"}, {"unique_key", "k"}}), "unique_key: overlap 'skip'"},
      {with({{"catch_up", "0"}}), "catch_up"},
      {with({{"catch_up", "1001"}}), "catch_up"},
      {with({{"jitter", "25h"}}), "jitter of 90000000000 microseconds: 0 to 24 hours"},
      {with({{"prio", "4"}}), "prio"},
      {with({{"delay", "5m"}, {"expires_in", "5m"}}), "the task expires before it is due"},
      {with({{"partition_key", "k"}}),
       "partition_key: queue 'default' is neither ordered nor limited nor fair"},
      {with({{"typo", "1"}}), "typo"}};
  for (const WrongSchedule& wrong : all) {
    const Answer refused = interface().make_schedule(wrong.schedule);
    EXPECT_TRUE(refuses(refused, wrong.words)) << wrong.schedule.expression;
  }
  EXPECT_EQ(count("schedule"), 0U);
}

RULES_OF(MakeScheduleRule, Can::kMakeSchedules);

class ScheduleRule : public Rule {
 protected:
  static queue::ScheduleSpec spec(const std::string& name = "s") {
    queue::ScheduleSpec spec;
    spec.name = name;
    spec.expression = "@daily";
    spec.queue = "default";
    spec.type = "t";
    spec.payload = "p";
    return spec;
  }
  void make(const queue::ScheduleSpec& spec) {
    ASSERT_EQ(
        queue::put_schedule(look(), spec, queue::database_now(look()) + std::chrono::hours(1)),
        queue::Put::kAdded);
  }
  queue::Schedule find(const std::string& name = "s") {
    return queue::find_schedule(look(), name).value();
  }
  std::string run(const std::string& name = "s") {
    const Answer made = interface().run_schedule(name);
    EXPECT_EQ(made.kind, Kind::kDone) << made;
    return made.id();
  }
};

TEST_P(ScheduleRule, IsPausedAndResumed) {
  make(spec());
  const std::uint64_t first = find().version;
  EXPECT_EQ(interface().pause_schedule("s", "the printer is off").kind, Kind::kDone);
  const queue::Schedule paused = find();
  EXPECT_TRUE(paused.paused_at);
  EXPECT_EQ(paused.pause_reason, "the printer is off");
  EXPECT_GT(paused.version, first) << "a tick that was planned before does not come";
  EXPECT_EQ(interface().pause_schedule("s", "").kind, Kind::kDone);
  EXPECT_EQ(find().paused_at, paused.paused_at);
  EXPECT_EQ(find().pause_reason, "");
  EXPECT_EQ(interface().resume_schedule("s").kind, Kind::kDone);
  const queue::Schedule running = find();
  EXPECT_FALSE(running.paused_at);
  EXPECT_GT(running.resumed_at, paused.paused_at);
  EXPECT_GT(running.version, paused.version);
  EXPECT_EQ(interface().resume_schedule("s").kind, Kind::kDone);
  EXPECT_EQ(find().version, running.version) << "it was not paused";
  EXPECT_EQ(find().resumed_at, running.resumed_at);
}

TEST_P(ScheduleRule, ARunMakesATaskAndTheRecordOfIt) {
  queue::ScheduleSpec one = spec();
  one.payload = " { \"n\" : 1.50 }";
  one.tick_field = "at";
  one.overlap = queue::Overlap::kSkip;
  one.options.prio = 3;
  one.options.delay = std::chrono::minutes(5);
  one.options.expires_in = std::chrono::hours(1);
  make(one);
  EXPECT_EQ(interface().pause_schedule("s", "").kind, Kind::kDone) << "which does not matter";
  const std::string id = run();
  const std::string tick =
      value("SELECT DATE_FORMAT(last_run, '%Y-%m-%dT%H:%i:%s.%fZ') FROM schedule");
  EXPECT_EQ(value("SELECT CONCAT_WS('|', type, prio, payload) FROM task"),
            "t|3| {\"at\":\"" + tick + "\", \"n\" : 1.50 }");
  EXPECT_EQ(value("SELECT expires_at > UTC_TIMESTAMP(6) + INTERVAL 59 MINUTE FROM task"), "1");
  EXPECT_EQ(value("SELECT run_key >> 12 > TIMESTAMPDIFF(MICROSECOND, '2025-01-01',"
                  " UTC_TIMESTAMP(6) + INTERVAL 4 MINUTE) FROM task"),
            "1");
  EXPECT_EQ(find().last_task, id);
  EXPECT_EQ(find().submitted, 1U);
  const auto ticks = queue::list_ticks(look(), find().schedule_id);
  ASSERT_EQ(ticks.size(), 1U);
  EXPECT_EQ(ticks.front().task, id);
  EXPECT_EQ(ticks.front().reason, "run now");
  EXPECT_EQ(ticks.front().tick, find().last_run);
  EXPECT_NE(run(), id) << "a requested task is submitted with any overlap";
}

TEST_P(ScheduleRule, ATypeOf127BytesIsKeptWhole) {
  queue::ScheduleSpec one = spec();
  one.type = std::string(kMaxTypeName, 'x');  // S79
  make(one);
  (void)run();
  EXPECT_EQ(value("SELECT type FROM task"), one.type);
}

TEST_P(ScheduleRule, AUniqueKeyThatIsTakenIsTheAnswerAndNoTick) {
  queue::ScheduleSpec one = spec();
  one.options.unique_key = "k";
  make(one);
  const std::string id = run();
  EXPECT_EQ(run(), id);
  EXPECT_EQ(count("task"), 1U);
  EXPECT_EQ(find().submitted, 1U);
}

TEST_P(ScheduleRule, ARunThatCannotBeLeavesNothingBehind) {
  make(spec());
  look().execute("UPDATE schedule SET queue = 'gone' WHERE schedule_id > 0");
  EXPECT_TRUE(refuses(interface().run_schedule("s"), "schedule 's': unknown queue 'gone'"));
  look().execute(
      "UPDATE schedule SET queue = 'default', partition_key = 'k' WHERE schedule_id > 0");
  EXPECT_TRUE(refuses(interface().run_schedule("s"), "partition_key: queue 'default' is neither"));
  EXPECT_EQ(find().ticks, 0U);
  EXPECT_EQ(count("task"), 0U);
}

TEST_P(ScheduleRule, ARemovedOneLeavesItsTasks) {
  make(spec());
  make(spec("other"));
  run();
  run("other");
  EXPECT_EQ(interface().remove_schedule("s").kind, Kind::kDone);
  EXPECT_EQ(interface().remove_schedule("s").kind, Kind::kBadInput) << "it is gone";
  EXPECT_EQ(count("schedule"), 1U);
  EXPECT_EQ(count("schedule_tick"), 1U);
  EXPECT_EQ(count("task"), 2U);
}

TEST_P(ScheduleRule, UnknownScheduleIsNamed) {
  make(spec());
  for (const std::string name : {"x", "s ", "S", "", "../locks"}) {
    const Answer answers[] = {interface().pause_schedule(name, ""),
                              interface().resume_schedule(name), interface().run_schedule(name),
                              interface().remove_schedule(name)};
    for (const Answer& each : answers) EXPECT_EQ(each.kind, Kind::kBadInput) << name << each;
  }
  EXPECT_TRUE(refuses(interface().run_schedule("x"), "schedule 'x'"));
  EXPECT_TRUE(refuses(interface().pause_schedule("s", std::string(256, 'x')), "reason"));
  EXPECT_FALSE(find().paused_at);
  EXPECT_EQ(count("task"), 0U);
}

RULES_OF(ScheduleRule, Can::kSchedules);

}  // namespace
}  // namespace allot::contract
