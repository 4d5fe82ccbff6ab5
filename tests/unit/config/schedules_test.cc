// SPDX-License-Identifier: Apache-2.0
// The sections [schedules.NAME].
#include "config/schedules.h"

#include "base/error.h"
#include "config/effective.h"
#include "unit/config/fixture.h"

namespace allot::config {
namespace {

class SchedulesTest : public ConfigTest {
 protected:
  // A valid section, except for this line, which is the fifth.
  [[nodiscard]] static std::string with(const std::string& line) {
    return "[schedules.a]\nexpression = \"@daily\"\nqueue = \"default\"\ntype = \"t\"\n" + line +
           "\n";
  }
  [[nodiscard]] Schedule one(const std::string& line) const {
    return load_text(with(line)).schedules.at(0);
  }
};

TEST_F(SchedulesTest, KeysAndDefaults) {
  const Schedule plain = one("");
  EXPECT_EQ(plain.name, "a");
  EXPECT_EQ(plain.expression, "@daily");
  EXPECT_EQ(plain.zone, "UTC");
  EXPECT_EQ(plain.late, "once");
  EXPECT_EQ(plain.late_after, seconds(60));
  EXPECT_EQ(plain.catch_up, 100U);
  EXPECT_EQ(plain.overlap, "allow");
  EXPECT_EQ(plain.prio, 1U);
  EXPECT_EQ(plain.unique_for, minutes(5));
  EXPECT_EQ(plain.revision, 0U);
  EXPECT_EQ(one("payload = \"\"\"\ntwo\nlines\"\"\"").payload, "two\nlines");
  EXPECT_EQ(one("expires_in = \"\"").expires_in, milliseconds(0));
  EXPECT_EQ(load_text("[schedules.\"a.b\"]\nexpression = \"@daily\"\nqueue = \"default\"\n"
                      "type = \"t\"\n")
                .schedules.at(0)
                .name,
            "a.b");
}

TEST_F(SchedulesTest, RequiredKeysOfASection) {
  EXPECT_EQ(failure_of("[schedules.a]\nzone = \"UTC\"\n"),
            "allot.toml:1: [schedules.a] has no expression, which it needs\n"
            "allot.toml:1: [schedules.a] has no queue, which it needs\n"
            "allot.toml:1: [schedules.a] has no type, which it needs");
  EXPECT_EQ(failure_of("[schedules.a.b]\n"),
            "allot.toml:1: [schedules.a.b]: a name with a dot needs quotes, as in "
            "[schedules.\"a.b\"]");
  EXPECT_EQ(failure_of("[schedules]\na = 1\n"),
            "allot.toml:2: 'a' is in [schedules]; write [schedules.NAME] above it");
  const std::string longer(64, 'n');
  EXPECT_EQ(failure_of("[schedules." + longer + "]\n"),
            "allot.toml:1: [schedules." + longer +
                "]: a name has 1 to 63 letters, digits, '_', '-' and '.'");
}

TEST_F(SchedulesTest, AnExpressionThatCannotBeReadOrNeverComes) {
  const auto failure = [&](const std::string& expression) {
    return failure_of("[schedules.a]\nqueue = \"default\"\ntype = \"t\"\nexpression = \"" +
                      expression + "\"\n");
  };
  EXPECT_EQ(failure("61 * * * *"),
            "allot.toml:4: [schedules.a] expression: schedule '61 * * * *': minute: '61' is not a "
            "number from 0 to 59");
  EXPECT_EQ(failure("0 0 31 2 *"),
            "allot.toml:4: [schedules.a] expression: schedule '0 0 31 2 *': day of month: none of "
            "its months has the day 31, so it would never run");
  EXPECT_EQ(failure("@every 0s"),
            "allot.toml:4: [schedules.a] expression: schedule '@every 0s': @every: the period is "
            "at least 1s");
  EXPECT_EQ(failure(std::string(256, '*')),
            "allot.toml:4: [schedules.a] expression has 256 bytes; the limit is "
            "255");
}

TEST_F(SchedulesTest, ItsQueueIsOneOfTheFile) {
  EXPECT_EQ(
      failure_of("[queues.mail]\n[schedules.a]\nexpression = \"@daily\"\ntype = \"t\"\n"
                 "queue = \"mial\"\n"),
      "allot.toml:5: [schedules.a] queue is 'mial', but the file has no [queues.mial]; did you "
      "mean 'mail'?");
}

TEST_F(SchedulesTest, WordsAndLimits) {
  EXPECT_EQ(failure_of(with("late = \"never\"")),
            "allot.toml:5: [schedules.a] late is \"never\"; use once, skip or all");
  EXPECT_EQ(failure_of(with("overlap = \"no\"")),
            "allot.toml:5: [schedules.a] overlap is \"no\"; use allow, skip or wait");
  EXPECT_EQ(failure_of(with("catch_up = 0")),
            "allot.toml:5: [schedules.a] catch_up is 0; allowed is 1 to 1000");
  EXPECT_EQ(failure_of(with("jitter = \"25h\"")),
            "allot.toml:5: [schedules.a] jitter is 25h; allowed is 0s to 24h");
  EXPECT_EQ(failure_of(with("cron = \"x\"")),
            "allot.toml:5: unknown key 'cron' in [schedules.a]; known keys: expression, zone, "
            "queue, type, payload, prio, delay, unique_key, unique_for, partition_key, expires_in, "
            "late, late_after, catch_up, overlap, jitter, tick_field, revision");
}

// Not checked when the file is only read: a restarted worker must not depend on tzdata.
TEST_F(SchedulesTest, ZonesAreCheckedByThoseThatCheck) {
  for (const char* zone : {"Mars/X", "../etc"}) {
    const Settings settings = load_text(with("zone = \"" + std::string(zone) + "\""));
    Problems problems;
    check_zones(settings, problems);
    ASSERT_EQ(problems.size(), 1U);
    EXPECT_EQ(problems[0].line, 5U);
    EXPECT_TRUE(problems[0].text.starts_with("[schedules.a] zone '" + std::string(zone) + "': "))
        << problems[0].text;
  }
  Problems problems;
  check_zones(load_text(with("zone = \"Europe/Berlin\"")), problems);
  EXPECT_TRUE(problems.empty());
}

TEST_F(SchedulesTest, TheChecksumCoversTheWords) {
  const std::uint64_t plain = checksum(one(""));
  EXPECT_EQ(
      checksum(load_text("# a comment\n[queues.b]\n[queues.default]\n" + with("")).schedules[0]),
      plain);
  EXPECT_EQ(checksum(one("zone = \"UTC\"")), plain) << "what is the default anyway";
  EXPECT_NE(checksum(one("payload = \"x\"")), plain);
  EXPECT_NE(checksum(one("revision = 1")), plain);
  EXPECT_NE(checksum(one("payload = \"x\"")), checksum(one("partition_key = \"x\"")));
}

TEST_F(SchedulesTest, AFileOfItsOwn) {
  const std::string path = write(
      "s.toml", "[schedules.a]\nexpression = \"@daily\"\ntype = \"t\"\nqueue = \"elsewhere\"\n");
  const Settings settings = read_schedules(path);
  ASSERT_EQ(settings.schedules.size(), 1U);
  EXPECT_EQ(settings.schedules[0].queue, "elsewhere") << "no [queues.elsewhere] is asked for";
  const std::string other = write("t.toml", with("") + "[queues.x]\n[logging]\n");
  try {
    static_cast<void>(read_schedules(other));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(shortened(error.what()),
              "t.toml:6: 'queues': this file has sections [schedules.NAME] only\n"
              "t.toml:7: 'logging': this file has sections [schedules.NAME] only");
  }
}

TEST_F(SchedulesTest, AreShownAsTheyAreInForce) {
  bool found = false;
  for (const Effective& row : effective(load_text(with("overlap = \"skip\"")))) {
    if (row.section != "schedules.a" || row.key != "overlap") continue;
    found = true;
    EXPECT_EQ(row.value, "\"skip\"");
    EXPECT_EQ(row.line, 5U);
  }
  EXPECT_TRUE(found);
}

}  // namespace
}  // namespace allot::config
