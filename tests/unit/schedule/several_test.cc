// SPDX-License-Identifier: Apache-2.0
// Rule: S36.
#include <gtest/gtest.h>

#include "schedule/computing_process.h"
#include "schedule/next.h"

namespace allot::schedule {
namespace {

class Utc : public Zone {
 public:
  [[nodiscard]] std::int64_t offset(Instant /*at*/) const override { return 0; }
};

constexpr Instant kDay = 86'400;
constexpr Instant kYear = 365 * kDay;
constexpr Instant kStart = 1'767'225'600;  // 2026-01-01

std::vector<Instant> upcoming_of(const std::string& text, Instant until, std::size_t most) {
  return upcoming(Expression::parse(text), Utc(), kStart, until, most);
}

Missed missed_of(const std::string& text, Instant until, std::size_t most) {
  return missed(Expression::parse(text), Utc(), kStart, until, most);
}

TEST(SeveralTest, UpcomingOnesAreBoundedByTimeAndNumberButOneIsAlwaysThere) {
  EXPECT_EQ(upcoming_of("* * * * *", kStart + 180, 9),
            (std::vector<Instant>{kStart + 60, kStart + 120, kStart + 180}));
  EXPECT_EQ(upcoming_of("* * * * *", kStart + 180, 2),
            (std::vector<Instant>{kStart + 60, kStart + 120}));
  EXPECT_EQ(upcoming_of("0 0 * * *", kStart + 60, 5), std::vector<Instant>{kStart + kDay});
  EXPECT_TRUE(upcoming(Expression::parse("* * * * *"), Utc(), 253'402'300'800, 0, 5).empty());
}

TEST(SeveralTest, TheNewestOfFewMissedOnesAreCountedExactly) {
  const Missed few = missed_of("* * * * *", kStart + 300, 2);
  EXPECT_EQ(few, (Missed{{kStart + 240, kStart + 300}, 5, false, kStart + 360}));
  EXPECT_EQ(missed_of("0 0 * * *", kStart + 300, 2), (Missed{{}, 0, false, kStart + kDay}));
}

TEST(SeveralTest, AYearOfSecondsIsNotEnumerated) {
  const Instant end = kStart + kYear;
  const Missed missed = missed_of("* * * * * *", end, 100);
  EXPECT_TRUE(missed.at_least);
  EXPECT_EQ(missed.count, kMostCounted);
  ASSERT_EQ(missed.newest.size(), 100U);
  EXPECT_EQ(missed.newest.front(), end - 99);
  EXPECT_EQ(missed.newest.back(), end);
  EXPECT_EQ(missed.next, end + 1);
}

// The ticks come in one hour of the year, so that no window has a little more than enough.
TEST(SeveralTest, TheNewestOnesAreFoundInABurst) {
  const Missed missed = missed_of("* * 3 5 6 *", kStart + kYear, 100);
  EXPECT_TRUE(missed.at_least);
  ASSERT_EQ(missed.newest.size(), 100U);
  const Instant last = missed.newest.back();
  EXPECT_EQ((last + 1) % 3600, 0);
  EXPECT_EQ(missed.newest.front(), last - 99);
  ASSERT_TRUE(missed.next);
  EXPECT_EQ(*missed.next, last + 1 - 3600 + kYear);
}

TEST(SeveralTest, APeriodCountsFromTheTickBefore) {
  const Missed missed = missed_of("@every 7s", kStart + kYear, 2);
  EXPECT_FALSE(missed.at_least);
  EXPECT_EQ(missed.count, static_cast<std::uint64_t>(kYear / 7));
  EXPECT_EQ(missed.newest,
            (std::vector<Instant>{kStart + kYear / 7 * 7 - 7, kStart + kYear / 7 * 7}));
  EXPECT_EQ(missed.next, kStart + kYear / 7 * 7 + 7);
}

TEST(SeveralTest, AChildAnswersTheSame) {
  ComputingProcess process({ALLOT_SCHEDULE_ANSWERS});
  EXPECT_EQ(process.upcoming("* * * * *", "UTC", kStart, kStart + 130, 9),
            upcoming_of("* * * * *", kStart + 130, 9));
  EXPECT_EQ(process.missed("* * * * * *", "UTC", kStart, kStart + kYear, 1000),
            missed_of("* * * * * *", kStart + kYear, 1000));
  EXPECT_EQ(process.missed("@every 7s", "UTC", kStart, kStart + kYear, 2),
            missed_of("@every 7s", kStart + kYear, 2));
  EXPECT_TRUE(process.upcoming("* * * * *", "UTC", 253'402'300'800, 0, 5).empty());
  EXPECT_ANY_THROW(process.missed("* * * * *", "../etc", 0, 1, 1));
  EXPECT_ANY_THROW(process.upcoming("61 * * * *", "UTC", 0, 1, 1));
  EXPECT_EQ(answer("upcoming 0 UTC"),
            "error a question is upcoming or missed, AFTER UNTIL MOST ZONE EXPRESSION");
}

}  // namespace
}  // namespace allot::schedule
