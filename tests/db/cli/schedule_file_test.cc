// SPDX-License-Identifier: Apache-2.0
// allot schedule apply and import-crontab.
#include <nlohmann/json.hpp>

#include "base/exit_codes.h"
#include "db/cli/fixture.h"

namespace allot::cli {
namespace {

using nlohmann::json;

class ScheduleFileTest : public CliTest {
 protected:
  ScheduleFileTest() { must({"migrate"}); }

  std::string file(const std::string& text) { return folder_.write("schedules.toml", text); }
  json names(const std::string& word, const std::string& told) {
    return json::parse(told).at(word);
  }
  // Expects exactly these error lines for the file, and that nothing is written.
  void refuse(const std::string& text, const std::string& problems) {
    const std::string before = everything();
    const std::string path = file(text);
    const auto done = allot({"schedule", "apply", path});
    EXPECT_NE(done.status.code, kExitOk) << text;
    std::string err = done.err;
    for (std::size_t at = 0; (at = err.find(path)) != std::string::npos;) {
      err.replace(at, path.size(), "F");
    }
    EXPECT_EQ(err, problems);
    EXPECT_EQ(everything(), before) << text;
  }
};

const std::string kTwo =
    "[schedules.one]\nexpression = \"@daily\"\nqueue = \"default\"\ntype = \"t\"\n"
    "[schedules.\"two.b\"]\nexpression = \"@every 5m\"\nzone = \"Europe/Berlin\"\n"
    "queue = \"wide\"\ntype = \"u\"\npayload = '{\"a\": 1}'\ntick_field = \"at\"\n"
    "late = \"skip\"\noverlap = \"wait\"\nexpires_in = \"1h\"\n";

TEST_F(ScheduleFileTest, AppliesAddsChangesAndPrunes) {
  const std::string path = file(kTwo);
  EXPECT_EQ(must({"schedule", "apply", path, "--dry-run"}),
            "would be added one\nwould be added two.b\n");
  EXPECT_EQ(count("schedule"), 0U);
  EXPECT_EQ(must({"schedule", "apply", path}), "added one\nadded two.b\n");
  EXPECT_EQ(must({"schedule", "apply", path}), "unchanged one\nunchanged two.b\n");
  const json two = json::parse(must({"schedule", "show", "two.b", "--json"}));
  EXPECT_EQ(two.at("overlap"), "wait");
  EXPECT_EQ(two.at("late"), "skip");
  EXPECT_EQ(two.at("payload"), "{\"a\": 1}");
  EXPECT_EQ(two.at("expires_in"), "1h");
  EXPECT_EQ(two.at("configured"), false);

  must({"schedule", "add", "third", "@daily", "default", "t"});
  file("[schedules.one]\nexpression = \"@hourly\"\nqueue = \"default\"\ntype = \"t\"\n");
  EXPECT_EQ(must({"schedule", "apply", path}), "changed one\n") << "nothing is removed by itself";
  EXPECT_EQ(count("schedule"), 3U);
  EXPECT_EQ(must({"schedule", "apply", path, "--prune", "--dry-run"}),
            "unchanged one\nwould be removed third\nwould be removed two.b\n");
  const auto asked = allot({"schedule", "apply", path, "--prune"});
  EXPECT_EQ(asked.status.code, kExitUsage);
  EXPECT_EQ(count("schedule"), 3U);
  const std::string told = must({"schedule", "apply", path, "--prune", "--yes", "--json"});
  EXPECT_EQ(names("removed", told), json({"third", "two.b"}));
  EXPECT_EQ(names("unchanged", told), json({"one"}));
  EXPECT_EQ(value("SELECT GROUP_CONCAT(name) FROM schedule"), "one");
}

TEST_F(ScheduleFileTest, OneMistakeAndNothingIsWritten) {
  const std::string good =
      "[schedules.a]\nexpression = \"@daily\"\nqueue = \"default\"\ntype = \"t\"\n";
  const auto with = [&](const std::string& line) { return good + line + "\n"; };
  const auto instead = [&](const std::string& expression) {
    return "[schedules.b]\nqueue = \"default\"\ntype = \"t\"\nexpression = \"" + expression +
           "\"\n" + good;
  };
  refuse(instead("0 0 31 2 *"),
         "allot: F:4: [schedules.b] expression: schedule '0 0 31 2 *': day of month: none of its "
         "months has the day 31, so it would never run\n");
  refuse(instead("0 0 61 * *"),
         "allot: F:4: [schedules.b] expression: schedule '0 0 61 * *': day of month: '61' is not a "
         "number from 1 to 31\n");
  refuse(
      instead("@every 0s"),
      "allot: F:4: [schedules.b] expression: schedule '@every 0s': @every: the period is at least "
      "1s\n");
  refuse(with("zone = \"../etc\""),
         "allot: F:5: [schedules.a] zone '../etc': not a time zone name, such as Europe/Berlin or "
         "UTC\n");
  refuse(with("zone = \"Mars/X\""),
         "allot: F:5: [schedules.a] zone 'Mars/X': no such file in /usr/share/zoneinfo, where "
         "tzdata installs time zones\n");
  refuse(with("tick_field = \"at\"\npayload = \"[]\""),
         "allot: F:6: [schedules.a] payload: with tick_field 'at' it must be a JSON object\n");
  refuse(with("partition_key = \"k\""),
         "allot: F:5: [schedules.a] partition_key: queue 'default' is neither ordered nor limited "
         "nor fair, so it would have no effect\n");
  refuse(with("overlap = \"skip\"\nunique_key = \"k\""),
         "allot: F:6: [schedules.a] unique_key: overlap 'skip' uses the unique key itself; only "
         "overlap 'allow' permits one\n");
  refuse(with("late = \"never\""),
         "allot: F:5: [schedules.a] late is \"never\"; use once, skip or all\n");
  refuse(with("expresion = \"@daily\""),
         "allot: F:5: unknown key 'expresion' in [schedules.a]; did you mean 'expression'?\n");
  refuse("[schedules.a]\nexpression = \"@daily\"\n",
         "allot: F:1: [schedules.a] has no queue, which it needs\n"
         "allot: F:1: [schedules.a] has no type, which it needs\n");
  const std::string longer(64, 'n');
  refuse("[schedules." + longer + "]\nexpression = \"@daily\"\n",
         "allot: F:1: [schedules." + longer +
             "]: a name has 1 to 63 letters, digits, '_', '-' and '.'\n");
  refuse(good + "[queues.x]\n",
         "allot: F:5: 'queues': this file has sections [schedules.NAME] only\n");
  const auto gone = allot({"schedule", "apply", "/nowhere/f"});
  EXPECT_EQ(gone.status.code, kExitNoInput);
  EXPECT_EQ(gone.err, "allot: /nowhere/f: cannot be read: No such file or directory\n");
}

TEST_F(ScheduleFileTest, AQueueThatIsNotThere) {
  const std::string path =
      file("[schedules.a]\nexpression = \"@daily\"\nqueue = \"wied\"\ntype = \"t\"\n" + kTwo);
  const auto done = allot({"schedule", "apply", path});
  EXPECT_TRUE(has(done.err, path + ":3: [schedules.a] queue 'wied' does not exist; did you mean "
                                   "'wide'?"));
  EXPECT_EQ(count("schedule"), 0U);
}

const std::string kCrontab =
    "# of a host\n"
    "SHELL=/bin/bash\n"
    "PATH = \"/usr/local/bin:/usr/bin\"\n"
    "MAILTO=ops@example.org\n"
    "\n"
    "@reboot /usr/bin/warm\n"
    "CRON_TZ=Europe/Berlin\n"
    "15 3 * * * /usr/local/bin/backup --to 'a b'\n"
    "@hourly  date +\\%F%one%two\n"
    "0 0 */2 * MON /bin/odd\n"
    "61 * * * * /bin/never\n"
    "15 3 * * * /usr/local/bin/backup --to 'a b'\n"
    "0 4 * * *\n";

TEST_F(ScheduleFileTest, ACrontabIsTakenOverLineByLine) {
  const std::string path = folder_.write("crontab", kCrontab);
  const Words words{"schedule", "import-crontab", path, "--queue", "wide"};
  Words dry = words;
  dry.push_back("--dry-run");
  EXPECT_EQ(allot(dry).status.code, kExitFailure);
  EXPECT_EQ(count("schedule"), 0U);
  const auto done = allot(words);
  EXPECT_EQ(done.status.code, kExitFailure) << "not all of it is taken over";
  EXPECT_EQ(count("schedule"), 2U) << done.err;
  EXPECT_TRUE(has(done.out, "line 8 is schedule backup-"));
  EXPECT_TRUE(has(done.out, " (15 3 * * *, Europe/Berlin), which runs first at 2"));
  EXPECT_TRUE(has(done.out, "line 9 is schedule date-"));
  EXPECT_TRUE(has(done.out, "[plugins.exec.types.\"crontab.line\"]\ncommand = [\"/bin/sh\"]\n"));
  EXPECT_TRUE(has(done.err, "allot: line 4 is not converted: MAILTO: "));
  EXPECT_TRUE(has(done.err, "allot: line 6 is not converted: @reboot: "));
  EXPECT_TRUE(has(done.err, "allot: line 10 is not converted: day of month '*/2' with weekday"));
  EXPECT_TRUE(has(done.err, "allot: line 11 is not converted: schedule '61 * * * *': minute: "));
  EXPECT_TRUE(has(done.err, "allot: line 12 is not converted: the same line occurs above\n"));
  EXPECT_TRUE(has(done.err, "allot: line 13 is not converted: it has no command\n"));
  EXPECT_EQ(value("SELECT CONCAT(queue, ' ', type) FROM schedule LIMIT 1"), "wide crontab.line");
  const auto again = allot(words);
  EXPECT_TRUE(has(again.err, " exists already and is not changed\n"));
  EXPECT_EQ(count("schedule"), 2U);
}

TEST_F(ScheduleFileTest, ACrontabWithoutAZoneNeedsOne) {
  const std::string path = folder_.write("crontab", "0 4 * * * root /bin/true\n");
  const auto without = allot({"schedule", "import-crontab", path});
  EXPECT_TRUE(has(without.err, "line 1 is not converted: no zone: cron uses the zone of its host"));
  EXPECT_EQ(count("schedule"), 0U);
  const auto done =
      allot({"schedule", "import-crontab", path, "--zone", "Asia/Tokyo", "--user-column"});
  EXPECT_EQ(done.status.code, kExitOk);
  EXPECT_TRUE(
      has(done.err, "line 1 differs: it ran as root; tasks run as the account of the daemon"));
  EXPECT_EQ(value("SELECT CONCAT(zone, ' ', payload) FROM schedule"),
            "Asia/Tokyo exec '/bin/sh' -c '/bin/true' </dev/null\n");
  const auto unknown =
      allot({"schedule", "import-crontab", path, "--zone", "UTC", "--queue", "no"});
  EXPECT_EQ(unknown.status.code, kExitBadInput);
  EXPECT_TRUE(has(unknown.err, "queue 'no' does not exist"));
  EXPECT_EQ(count("schedule"), 1U);
}

// The script does the same as cron, in the shell that the plugin runs.
TEST_F(ScheduleFileTest, TheScriptOfALineDoesWhatItSays) {
  const std::string path = folder_.write("crontab",
                                         "GREETING = 'it''s $HOME'\n* * * * * printf '[\\%s]' "
                                         "\"$GREETING\" 'a b'; cat; exit 3%x%y\\%z\n");
  must({"schedule", "import-crontab", path, "--zone", "UTC"});
  const std::string script = value("SELECT payload FROM schedule");
  const auto done = support::run_program({"/bin/sh"}, {.input = script});
  EXPECT_EQ(done.status.code, 3) << script;
  EXPECT_EQ(done.out, "[it''s $HOME][a b]x\ny%z\n") << script;
}

}  // namespace
}  // namespace allot::cli
