// SPDX-License-Identifier: Apache-2.0
#include "schedule/expression.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.h"

namespace allot::schedule {
namespace {

std::string refusal_of(const std::string& text) {
  try {
    return "none, it is " + Expression::parse(text).text();
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(Expression, KeepsItsTextWithOneSpaceAndOneCase) {
  EXPECT_EQ(Expression::parse("  0\t9-17/2  * jan,Feb   mon-fri ").text(),
            "0 9-17/2 * JAN,FEB MON-FRI");
  EXPECT_EQ(Expression::parse("0 0 l * fri#2,5l").text(), "0 0 L * FRI#2,5L");
  EXPECT_EQ(Expression::parse("@Hourly").text(), "@hourly");
  EXPECT_EQ(Expression::parse(" @every  90S").text(), "@every 90s");
}

TEST(Expression, KeptTextIsReadAsTheSame) {
  for (const char* text : {"*/5 * * * * *", "0 0 1,15,L * mon#1", "@weekly", "@every 1h30m"}) {
    const std::string kept = Expression::parse(text).text();
    EXPECT_EQ(Expression::parse(kept).text(), kept);
  }
}

TEST(Expression, FieldsAreTheValuesTheyName) {
  const Fields fields = Expression::parse("5,10-12 */6 3/10 FEB-4,12 FRI-SUN").fields();
  EXPECT_EQ(fields.seconds, 1U);
  EXPECT_EQ(fields.minutes, 1U << 5 | 1U << 10 | 1U << 11 | 1U << 12);
  EXPECT_EQ(fields.hours, 1U | 1U << 6 | 1U << 12 | 1U << 18);
  EXPECT_EQ(fields.days, 1U << 3 | 1U << 13 | 1U << 23);
  EXPECT_EQ(fields.months, 1U << 2 | 1U << 3 | 1U << 4 | 1U << 12);
  EXPECT_EQ(fields.weekdays, 1U | 1U << 5 | 1U << 6);
  EXPECT_EQ(Expression::parse("7-9/2 * * * * *").fields().seconds, 1U << 7 | 1U << 9);
}

TEST(Expression, SundayIsZeroAndSeven) {
  for (const char* text : {"0 0 * * 0", "0 0 * * 7", "0 0 * * SUN", "0 0 * * 7-7", "0 0 * * */7"}) {
    EXPECT_EQ(Expression::parse(text).fields().weekdays, 1U) << text;
  }
  EXPECT_EQ(Expression::parse("0 0 * * 5-7").fields().weekdays, 1U | 1U << 5 | 1U << 6);
  EXPECT_EQ(Expression::parse("0 0 * * 7/3").fields().weekdays, 1U | 1U << 3 | 1U << 6);
  EXPECT_EQ(Expression::parse("0 0 * * 1/3").fields().weekdays, 1U << 1 | 1U << 4);
  EXPECT_EQ(Expression::parse("0 0 * * 7#1").fields().nth_weekday[0], 1U << 1);
  EXPECT_EQ(Expression::parse("0 0 * * 7L").fields().last_weekday, 1U);
}

TEST(Expression, ATimeOfDayIsOneHourAndOneMinute) {
  for (const char* text : {"30 2 * * *", "0 30 2 * * MON", "*/5 30 2 * * *", "@daily"}) {
    EXPECT_TRUE(Expression::parse(text).fields().fixed_time) << text;
  }
  for (const char* text : {"30 * * * *", "* 2 * * *", "30 2-2 * * *", "0,30 2 * * *", "@hourly"}) {
    EXPECT_FALSE(Expression::parse(text).fields().fixed_time) << text;
  }
}

TEST(Expression, EveryIsAPeriod) {
  EXPECT_EQ(Expression::parse("@every 90s").every(), 90);
  EXPECT_EQ(Expression::parse("@every 1h30m").every(), 5400);
  EXPECT_EQ(Expression::parse("@every 3650d").every(), INT64_C(3650) * 86400);
  EXPECT_EQ(Expression::parse("* * * * *").every(), 0);
}

TEST(Expression, AnErrorNamesItsField) {
  const std::vector<std::vector<std::string>> cases = {
      {"61 * * * *", "schedule '61 * * * *': minute: '61' is not a number from 0 to 59"},
      {"61 * * * * *", "schedule '61 * * * * *': second: '61' is not a number from 0 to 59"},
      {"0 24 * * *", "schedule '0 24 * * *': hour: '24' is not a number from 0 to 23"},
      {"0 0 0 * *", "schedule '0 0 0 * *': day of month: '0' is not a number from 1 to 31"},
      {"0 0 1 13 *",
       "schedule '0 0 1 13 *': month: '13' is not a name of one or a number from 1 to 12"},
      {"0 0 * * 8",
       "schedule '0 0 * * 8': day of week: '8' is not a name of one or a number from 0 to 7"},
      {"0 0 * MAI *",
       "schedule '0 0 * MAI *': month: 'MAI' is not a name of one or a number from 1 to 12"},
      {"18446744073709551616 * * * *",
       "schedule '18446744073709551616 * * * *': minute: '18446744073709551616' is not a number "
       "from 0 "
       "to 59"},
      {"5-3 * * * *", "schedule '5-3 * * * *': minute: '5-3' begins after its end"},
      {"*/0 * * * *",
       "schedule '*/0 * * * *': minute: '0' is not a step: a step is a number from 1 to 60"},
      {"*/90 * * * *",
       "schedule '*/90 * * * *': minute: '90' is not a step: a step is a number from 1 to 60"},
      {"1, * * * *", "schedule '1, * * * *': minute: a value is missing in '1,'"},
      {"-1 * * * *", "schedule '-1 * * * *': minute: '' is not a number from 0 to 59"},
      {"1-2-3 * * * *", "schedule '1-2-3 * * * *': minute: '2-3' is not a number from 0 to 59"},
      {"0 L * * *", "schedule '0 L * * *': hour: 'L' is not a number from 0 to 23"},
      {"0 0 * * FRI#6",
       "schedule '0 0 * * FRI#6': day of week: 'FRI#6': # is followed by a number from 1 to 5"},
      {"0 0 * * L",
       "schedule '0 0 * * L': day of week: L needs a day, as in 5L for the last Friday of the "
       "month"},
      {"0 0 31 2 *",
       "schedule '0 0 31 2 *': day of month: none of its months has the day 31, so it would never "
       "run"},
      {"0 0 31 4,6,9,11 *",
       "schedule '0 0 31 4,6,9,11 *': day of month: none of its months has the day 31, so it would "
       "never run"},
      {"@every 0s", "schedule '@every 0s': @every: the period is at least 1s"},
      {"@every 3651d", "schedule '@every 3651d': @every: the period is at most 3650d"},
      {"@every 99999999999999999999s",
       "schedule '@every 99999999999999999999s': @every: the period is at most 3650d"},
      {"@every 5",
       "schedule '@every 5': @every: '5' is not a period, such as 90s, 5m, 1h30m or 2d"},
      {"@every -5s",
       "schedule '@every -5s': @every: '-5s' is not a period, such as 90s, 5m, 1h30m or 2d"},
      {"@reboot",
       "schedule '@reboot': unknown word; allowed are @hourly, @daily, @midnight, @weekly, "
       "@monthly, @yearly, @annually and '@every 90s'"},
      {"* * * *",
       "schedule '* * * *': it has 4 fields and needs 5 (minute, hour, day of month, month, day of "
       "week), or 6 with the second first"},
      {"",
       "schedule '': it has 0 fields and needs 5 (minute, hour, day of month, month, day of week), "
       "or "
       "6 with the second first"},
  };
  for (const auto& pair : cases) EXPECT_EQ(refusal_of(pair.at(0)), pair.at(1));
}

TEST(Expression, RareExpressionIsAccepted) {
  for (const char* text :
       {"0 0 29 2 *", "0 0 31 2 MON", "0 0 31,L 2 *", "0 0 * 2 FRI#5", "0 0 31 2,3 *"}) {
    EXPECT_NO_THROW(Expression::parse(text)) << text;
  }
}

}  // namespace
}  // namespace allot::schedule
