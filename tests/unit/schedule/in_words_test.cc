// SPDX-License-Identifier: Apache-2.0
#include "schedule/in_words.h"

#include <gtest/gtest.h>

#include <utility>

namespace allot::schedule {
namespace {

TEST(InWords, SayWhenAnExpressionRuns) {
  for (const auto& [expression, words] : {
           std::pair{"15 3 * * *", "every day at 03:15"},
           {"0 9,17 * * *", "every day at 09:00, 17:00"},
           {"0 9 * * MON-FRI", "Monday to Friday at 09:00"},
           {"30 8 * * SAT,SUN", "Saturday and Sunday at 08:30"},
           {"0 0 1 jan,jul *", "on day 1 of the month at 00:00, in January and July"},
           {"0 0 L * *", "on the last day of the month at 00:00"},
           {"0 0 1,15,L * *", "on days 1 and 15 of the month and on its last day at 00:00"},
           {"0 18 * * FRI#2", "on the second Friday of the month at 18:00"},
           {"0 18 * * FRIL", "on the last Friday of the month at 18:00"},
           {"0 6 13 * FRI", "on day 13 of the month or Friday at 06:00"},
           {"* * * * *", "every minute"},
           {"*/5 * * * *", "every 5 minutes"},
           {"*/5 9-17 * * MON-FRI", "every 5 minutes from 09:00 to 17:59, Monday to Friday"},
           {"*/5 7 * * *", "every 5 minutes from 07:00 to 07:59"},
           {"*/5 7,9 * * *", "every 5 minutes in the hours 7 and 9"},
           {"@hourly", "every hour"},
           {"5,35 * * * *", "every hour, at minutes 5 and 35"},
           {"0 */2 * * *", "every 2 hours"},
           {"10 8-18 * * *", "every hour from 08:10 to 18:10"},
           {"1,2 1,3,5,7 * * *", "every day at minutes 1 and 2 of the hours 1, 3, 5 and 7"},
           {"@weekly", "Sunday at 00:00"},
           {"@every 90s", "every 90 seconds"},
           {"@every 2h", "every 2 hours"},
           {"@every 1m", "every minute"},
           {"30 15 3 * * *", "every day at 03:15:30"},
           {"*/10 * * * * *", "every 10 seconds"},
           {"5 */2 * * * *", "every 2 minutes, at second 5"},
       }) {
    EXPECT_EQ(in_words(expression), words) << expression;
  }
}

TEST(InWords, UnreadableExpressionIsUnchanged) {
  EXPECT_EQ(in_words("@fortnightly"), "@fortnightly");
  EXPECT_EQ(in_words(""), "");
}

}  // namespace
}  // namespace allot::schedule
