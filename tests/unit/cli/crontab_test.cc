// SPDX-License-Identifier: Apache-2.0
#include "cli/words/crontab.h"

#include <gtest/gtest.h>

namespace allot::cli {
namespace {

CrontabLine only(const std::string& text, bool user_column = false) {
  const Crontab crontab = parse_crontab(text, user_column);
  EXPECT_EQ(crontab.lines.size(), 1U) << text;
  EXPECT_TRUE(crontab.left.empty()) << crontab.left.front().text;
  return crontab.lines.empty() ? CrontabLine{} : crontab.lines.front();
}

std::string left(const std::string& text) {
  const Crontab crontab = parse_crontab(text, false);
  EXPECT_EQ(crontab.left.size(), 1U) << text;
  return crontab.left.empty() ? "" : crontab.left.front().text;
}

TEST(CrontabTest, FieldsNamesAndCommand) {
  const CrontabLine line = only("\t# c\n\n  15\t3-5 *  jan-mar MON-FRI   cmd  a  # b \r\n");
  EXPECT_EQ(line.number, 3U);
  EXPECT_EQ(line.expression, "15 3-5 * jan-mar MON-FRI");
  EXPECT_EQ(line.command, "cmd  a  # b");
  EXPECT_FALSE(line.input);
  EXPECT_EQ(line.zone, "");
  EXPECT_EQ(only("@weekly cmd").expression, "@weekly");
  EXPECT_EQ(only("1 2 3 4 * root cmd", true).command, "cmd");
}

TEST(CrontabTest, APercentSignEndsTheCommand) {
  const CrontabLine line = only("* * * * * cat %one%two\\%three");
  EXPECT_EQ(line.command, "cat ");
  EXPECT_EQ(line.input, "one\ntwo%three\n");
  EXPECT_EQ(only("* * * * * date +\\%F").command, "date +%F");
  EXPECT_FALSE(only("* * * * * date +\\%F").input);
  EXPECT_EQ(only("* * * * * cat%").input, "\n");
}

TEST(CrontabTest, SettingsHoldForTheLinesBelow) {
  const Crontab crontab = parse_crontab(
      "* * * * * one\nCRON_TZ = Asia/Tokyo\nSHELL=/bin/bash\n\"A\" = ' x '\nA=y\n"
      "* * * * * two\nCRON_TZ=UTC\n* * * * * three\n",
      false);
  ASSERT_EQ(crontab.lines.size(), 3U);
  EXPECT_EQ(crontab.lines[0].zone, "");
  EXPECT_EQ(crontab.lines[0].shell, "/bin/sh");
  EXPECT_EQ(crontab.lines[1].zone, "Asia/Tokyo");
  EXPECT_EQ(script_of(crontab.lines[1]),
            "export SHELL='/bin/bash'\nexport A='y'\nexec '/bin/bash' -c 'two' </dev/null\n");
  EXPECT_EQ(crontab.lines[2].zone, "UTC");
  const Crontab tz = parse_crontab("TZ=Asia/Tokyo\n* * * * * one\n", false);
  EXPECT_EQ(tz.lines.at(0).zone, "Asia/Tokyo");
  ASSERT_EQ(tz.remarks.size(), 1U) << "it is the zone here, but not everywhere";
  EXPECT_EQ(tz.remarks[0].number, 1U);
}

TEST(CrontabTest, UnsupportedLineIsReported) {
  EXPECT_TRUE(left("@reboot cmd").starts_with("@reboot: "));
  EXPECT_TRUE(left("MAILTO=ops").starts_with("MAILTO: "));
  EXPECT_TRUE(parse_crontab("MAILTO=\"\"\n", false).left.empty()) << "no mail is sent here either";
  EXPECT_TRUE(left("LOGNAME=x").starts_with("LOGNAME: "));
  EXPECT_EQ(left("* * * *"), "it has fewer than five fields and a command");
  EXPECT_EQ(left("* * * * *"), "it has no command");
  EXPECT_TRUE(left("60 * * * * cmd").starts_with("schedule '60 * * * *': minute: "));
  EXPECT_TRUE(left("0 0 31 2 * cmd").starts_with("schedule '0 0 31 2 *': day of month: "));
  EXPECT_TRUE(left("-0 0 1 2 * cmd").starts_with("schedule '-0 0 1 2 *': minute: "));
  EXPECT_TRUE(left("@yesterday cmd").starts_with("schedule '@yesterday'"));
  EXPECT_TRUE(left("* * * * * a \\\\ b").starts_with("two backslashes: "));
}

// cron treats a field that begins with * as unrestricted, and every other as restricted.
TEST(CrontabTest, DaysThatMeanOtherOnesToCron) {
  EXPECT_TRUE(left("0 0 */2 * MON cmd").starts_with("day of month '*/2' with weekday 'MON'"));
  EXPECT_TRUE(left("0 0 1-31 * MON cmd").starts_with("day of month '1-31' with weekday 'MON'"));
  EXPECT_EQ(only("0 0 13 * FRI cmd").expression, "0 0 13 * FRI");
  EXPECT_EQ(only("0 0 */2 * * cmd").expression, "0 0 */2 * *");
  EXPECT_EQ(only("0 0 * * MON-FRI cmd").expression, "0 0 * * MON-FRI");
}

TEST(CrontabTest, TheScriptQuotesEveryWord) {
  EXPECT_EQ(script_of(only("* * * * * echo 'it'")),
            "exec '/bin/sh' -c 'echo '\\''it'\\''' </dev/null\n");
  EXPECT_EQ(script_of(only("* * * * * cat%$(x)")), "printf %s '$(x)\n' | '/bin/sh' -c 'cat'\n");
}

TEST(CrontabTest, TheNameIsTheSameForTheSameLine) {
  const CrontabLine line = only("0 4 * * * A=b /usr/bin/back-up.sh --all");
  const std::string name = name_of(line, "UTC");
  EXPECT_TRUE(name.starts_with("back-up.sh-")) << name;
  EXPECT_EQ(name.size(), std::string("back-up.sh-").size() + 8);
  EXPECT_EQ(name_of(only("\n\n0 4 * * * A=b /usr/bin/back-up.sh --all"), "UTC"), name);
  EXPECT_NE(name_of(line, "Asia/Tokyo"), name);
  EXPECT_NE(name_of(only("1 4 * * * A=b /usr/bin/back-up.sh --all"), "UTC"), name);
  EXPECT_TRUE(name_of(only("* * * * * (true)"), "UTC").starts_with("true-"));
  EXPECT_TRUE(name_of(only("* * * * * ()"), "UTC").starts_with("crontab-"));
}

}  // namespace
}  // namespace allot::cli
