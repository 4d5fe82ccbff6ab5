// SPDX-License-Identifier: Apache-2.0
#include "schedule/next.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <ctime>
#include <string>
#include <utility>
#include <vector>

#include "schedule/system_zone.h"

namespace allot::schedule {
namespace {

// A zone whose clocks change where the test requires it: at each instant, to that offset.
class MadeUpZone : public Zone {
 public:
  MadeUpZone(std::int64_t first, std::vector<std::pair<Instant, std::int64_t>> changes)
      : first_(first), changes_(std::move(changes)) {}
  [[nodiscard]] std::int64_t offset(Instant at) const override {
    ++asked_;
    std::int64_t found = first_;
    for (const auto& [change, offset] : changes_) {
      if (at >= change) found = offset;
    }
    return found;
  }
  [[nodiscard]] int asked() const { return asked_; }

 private:
  std::int64_t first_;
  std::vector<std::pair<Instant, std::int64_t>> changes_;
  mutable int asked_ = 0;
};

// "2026-03-29 01:00:00" in UTC.
Instant utc(const std::string& text) {
  std::tm tm{};
  EXPECT_NE(strptime(text.c_str(), "%Y-%m-%d %H:%M:%S", &tm), nullptr) << text;
  return timegm(&tm);
}

std::string written(Instant at) {
  const std::time_t time = at;
  std::tm tm{};
  gmtime_r(&time, &tm);
  std::string text(19, '\0');
  std::strftime(text.data(), 20, "%Y-%m-%d %H:%M:%S", &tm);
  return text;
}

std::string after(const Zone& zone, const std::string& expression, const std::string& from) {
  const auto found = next(Expression::parse(expression), zone, utc(from));
  return found ? written(*found) : "never";
}

// The next `count` runs, with a space, a bar and a space between them; without the year.
std::string runs(const Zone& zone, const std::string& expression, const std::string& from,
                 int count) {
  const Expression parsed = Expression::parse(expression);
  Instant at = utc(from);
  std::string all;
  for (; count > 0; --count) {
    const auto found = next(parsed, zone, at);
    if (!found) return all + " | never";
    EXPECT_GT(*found, at);
    at = *found;
    all += (all.empty() ? "" : " | ") + written(at).substr(5);
  }
  return all;
}

const MadeUpZone& plain() {
  static const MadeUpZone kUtc(0, {});
  return kUtc;
}

TEST(Next, TableOfExpressionsAndInstants) {
  const std::vector<std::vector<std::string>> cases = {
      {"* * * * *", "2026-01-01 00:00:00", "2026-01-01 00:01:00"},
      {"* * * * *", "2026-01-01 00:00:59", "2026-01-01 00:01:00"},
      {"* * * * * *", "2026-12-31 23:59:59", "2027-01-01 00:00:00"},
      {"*/20 * * * * *", "2026-01-01 00:00:20", "2026-01-01 00:00:40"},
      {"30 4 * * *", "2026-01-01 04:30:00", "2026-01-02 04:30:00"},
      {"30 4 * * *", "2026-01-01 04:29:59", "2026-01-01 04:30:00"},
      {"0 9-17/4 * * MON-FRI", "2026-01-02 17:00:00", "2026-01-05 09:00:00"},
      {"59 23 31 12 *", "2026-12-31 23:59:00", "2027-12-31 23:59:00"},
      {"0 0 31 * *", "2026-01-31 00:00:00", "2026-03-31 00:00:00"},
      {"0 0 L * *", "2026-01-31 00:00:00", "2026-02-28 00:00:00"},
      {"0 0 L 2 *", "2027-03-01 00:00:00", "2028-02-29 00:00:00"},
      {"0 0 15,L * *", "2026-02-15 00:00:00", "2026-02-28 00:00:00"},
      {"0 0 29 2 *", "2096-03-01 00:00:00", "2104-02-29 00:00:00"},
      {"0 0 29 2 *", "2026-01-01 00:00:00", "2028-02-29 00:00:00"},
      {"0 0 * * FRI#2", "2026-01-01 00:00:00", "2026-01-09 00:00:00"},
      {"0 0 * * FRI#5", "2026-01-30 00:00:00", "2026-05-29 00:00:00"},
      {"0 0 * 2 FRI#5", "2026-01-01 00:00:00", "2036-02-29 00:00:00"},
      {"0 0 * * 5L", "2026-02-01 00:00:00", "2026-02-27 00:00:00"},
      {"0 0 * * L5", "2026-02-27 00:00:00", "2026-03-27 00:00:00"},
      {"0 0 * * MON,FRI#2", "2026-01-05 00:00:00", "2026-01-09 00:00:00"},
      // Both days: one match is enough, except if one of them admits all.
      {"0 0 13 * FRI", "2026-02-09 00:00:00", "2026-02-13 00:00:00"},
      {"0 0 13 * FRI", "2026-02-13 00:00:00", "2026-02-20 00:00:00"},
      {"0 0 13 * FRI#1", "2026-02-07 00:00:00", "2026-02-13 00:00:00"},
      {"0 0 31 2 MON", "2026-01-01 00:00:00", "2026-02-02 00:00:00"},
      {"0 0 1-31 * FRI", "2026-02-14 00:00:00", "2026-02-20 00:00:00"},
      {"0 0 13 * 0-6", "2026-02-14 00:00:00", "2026-03-13 00:00:00"},
      {"@hourly", "2026-01-01 00:00:01", "2026-01-01 01:00:00"},
      {"@weekly", "2026-01-01 00:00:00", "2026-01-04 00:00:00"},
      {"@monthly", "2026-01-01 00:00:00", "2026-02-01 00:00:00"},
      {"@yearly", "2026-01-01 00:00:00", "2027-01-01 00:00:00"},
      {"@every 90s", "2026-01-01 00:00:01", "2026-01-01 00:01:31"},
      {"0 0 1 1 *", "1900-06-01 00:00:00", "1901-01-01 00:00:00"},
  };
  for (const auto& line : cases) {
    EXPECT_EQ(after(plain(), line.at(0), line.at(1)), line.at(2))
        << line.at(0) << " after " << line.at(1);
  }
}

TEST(Next, GoesByTheLocalTime) {
  const MadeUpZone kathmandu(20700, {});
  EXPECT_EQ(after(kathmandu, "0 0 * * *", "2026-01-01 12:00:00"), "2026-01-01 18:15:00");
  EXPECT_EQ(after(kathmandu, "0 0 1 * *", "2026-01-31 18:00:00"), "2026-01-31 18:15:00");
}

TEST(Next, BerlinLosesAnHourInMarch) {
  const SystemZone zone("Europe/Berlin");
  // 02:00 is followed by 03:00, at 01:00 in UTC.
  EXPECT_EQ(runs(zone, "30 2 * * *", "2026-03-28 00:00:00", 3),
            "03-28 01:30:00 | 03-29 01:00:00 | 03-30 00:30:00");
  EXPECT_EQ(runs(zone, "0 2 * * *", "2026-03-28 12:00:00", 2), "03-29 01:00:00 | 03-30 00:00:00");
  EXPECT_EQ(runs(zone, "0 3 * * *", "2026-03-28 12:00:00", 2), "03-29 01:00:00 | 03-30 01:00:00");
  EXPECT_EQ(runs(zone, "*/20 30 2 * * *", "2026-03-28 12:00:00", 2),
            "03-29 01:00:00 | 03-30 00:30:00");
  EXPECT_EQ(runs(zone, "30 * * * *", "2026-03-28 23:45:00", 3),
            "03-29 00:30:00 | 03-29 01:30:00 | 03-29 02:30:00");
  EXPECT_EQ(runs(zone, "30 2-2 * * *", "2026-03-28 12:00:00", 1), "03-30 00:30:00");
  EXPECT_EQ(runs(zone, "*/30 2,3 * * *", "2026-03-28 12:00:00", 3),
            "03-29 01:00:00 | 03-29 01:30:00 | 03-30 00:00:00");
}

TEST(Next, BerlinHasAnHourTwiceInOctober) {
  const SystemZone zone("Europe/Berlin");
  // 03:00 is followed by 02:00, at 01:00 in UTC.
  EXPECT_EQ(runs(zone, "30 2 * * *", "2026-10-24 12:00:00", 2), "10-25 00:30:00 | 10-26 01:30:00");
  EXPECT_EQ(runs(zone, "*/30 2 * * *", "2026-10-24 12:00:00", 5),
            "10-25 00:00:00 | 10-25 00:30:00 | 10-25 01:00:00 | 10-25 01:30:00 | 10-26 01:00:00");
  EXPECT_EQ(runs(zone, "15 * * * *", "2026-10-24 23:30:00", 3),
            "10-25 00:15:00 | 10-25 01:15:00 | 10-25 02:15:00");
  EXPECT_EQ(after(zone, "30 2 * * *", "2026-10-25 00:45:00"), "2026-10-26 01:30:00");
}

TEST(Next, NewYorkInTheYearThatIsFarAway) {
  const SystemZone zone("America/New_York");
  EXPECT_EQ(runs(zone, "30 2 * * *", "2045-03-11 12:00:00", 2), "03-12 07:00:00 | 03-13 06:30:00");
  EXPECT_EQ(runs(zone, "30 1 * * *", "2045-11-04 12:00:00", 2), "11-05 05:30:00 | 11-06 06:30:00");
  EXPECT_EQ(runs(zone, "30 1-1 * * *", "2045-11-04 12:00:00", 3),
            "11-05 05:30:00 | 11-05 06:30:00 | 11-06 06:30:00");
}

TEST(Next, LordHoweChangesByHalfAnHour) {
  const SystemZone zone("Australia/Lord_Howe");
  // 02:00 is followed by 02:30 in October, and by 01:30 in April.
  EXPECT_EQ(runs(zone, "15 2 * * *", "2026-10-03 00:00:00", 2), "10-03 15:30:00 | 10-04 15:15:00");
  EXPECT_EQ(runs(zone, "45 2 * * *", "2026-10-03 00:00:00", 2), "10-03 15:45:00 | 10-04 15:45:00");
  EXPECT_EQ(runs(zone, "45 1 * * *", "2026-04-04 00:00:00", 2), "04-04 14:45:00 | 04-05 15:15:00");
  EXPECT_EQ(runs(zone, "45 1-1 * * *", "2026-04-04 00:00:00", 3),
            "04-04 14:45:00 | 04-04 15:15:00 | 04-05 15:15:00");
  EXPECT_EQ(runs(zone, "*/15 2 * * *", "2026-10-03 15:00:00", 2),
            "10-03 15:30:00 | 10-03 15:45:00");
}

TEST(Next, EveryLooksAtNoClockOnAWall) {
  const SystemZone zone("Europe/Berlin");
  EXPECT_EQ(runs(zone, "@every 1h", "2026-03-29 00:10:00", 2), "03-29 01:10:00 | 03-29 02:10:00");
  const MadeUpZone unasked(0, {});
  EXPECT_TRUE(next(Expression::parse("@every 1h"), unasked, 0).has_value());
  EXPECT_EQ(unasked.asked(), 0);
}

TEST(Next, ADayThatIsLeftOutWholly) {
  const SystemZone apia("Pacific/Apia");
  // 30 December 2011 did not exist there; the 31st began at 10:00 in UTC.
  EXPECT_EQ(runs(apia, "0 12 * * *", "2011-12-29 00:00:00", 3),
            "12-29 22:00:00 | 12-30 10:00:00 | 12-30 22:00:00");
  EXPECT_EQ(runs(apia, "0 0 * * *", "2011-12-29 00:00:00", 3),
            "12-29 10:00:00 | 12-30 10:00:00 | 12-31 10:00:00");
  EXPECT_EQ(runs(apia, "0 */12 30 12 *", "2011-12-29 00:00:00", 1), "12-29 10:00:00");
}

// Like Newfoundland until 2011: at 00:01 clocks went back to 23:01 of the day before.
TEST(Next, ADayThatContinuesAfterTheNextOneBegan) {
  const Instant change = utc("2026-11-01 00:01:00");
  const MadeUpZone zone(0, {{change, -3600}});
  EXPECT_EQ(runs(zone, "*/30 * * * *", "2026-10-31 23:15:00", 4),
            "10-31 23:30:00 | 11-01 00:00:00 | 11-01 00:30:00 | 11-01 01:00:00");
  EXPECT_EQ(runs(zone, "0 0 * * *", "2026-10-31 12:00:00", 2), "11-01 00:00:00 | 11-02 01:00:00");
  EXPECT_EQ(runs(zone, "30 23 * * *", "2026-10-31 12:00:00", 2), "10-31 23:30:00 | 11-02 00:30:00");
  EXPECT_EQ(runs(zone, "*/30 23 31 10 *", "2026-10-31 23:00:00", 2),
            "10-31 23:30:00 | 11-01 00:30:00");
}

TEST(Next, AMidnightThatIsLeftOut) {
  const SystemZone zone("Africa/Cairo");
  EXPECT_EQ(runs(zone, "@daily", "2026-04-22 23:00:00", 2), "04-23 22:00:00 | 04-24 21:00:00");
}

TEST(Next, TwoChangesWithinADay) {
  const Instant change = utc("2026-05-01 08:00:00");
  const MadeUpZone zone(0, {{change, 3600}, {change + INT64_C(43200), 0}});
  EXPECT_EQ(runs(zone, "30 8 * * *", "2026-05-01 00:00:00", 2), "05-01 08:00:00 | 05-02 08:30:00");
  EXPECT_EQ(runs(zone, "30 20 * * *", "2026-05-01 00:00:00", 2), "05-01 19:30:00 | 05-02 20:30:00");
}

// The number of queries would reveal a step of a second or a day over 50 years.
TEST(Next, AsksTheZoneSeldom) {
  const MadeUpZone zone(0, {});
  EXPECT_EQ(after(zone, "59 59 23 29 2 *", "2096-03-01 00:00:00"), "2104-02-29 23:59:59");
  EXPECT_LT(zone.asked(), 20);
}

TEST(Next, EndsWhereTheCalendarDoes) {
  for (const Instant at : {INT64_MIN, INT64_MAX, INT64_C(-62135596801), INT64_C(253402300800)}) {
    EXPECT_EQ(next(Expression::parse("* * * * *"), plain(), at), std::nullopt) << at;
    EXPECT_EQ(next(Expression::parse("@every 1s"), plain(), at), std::nullopt) << at;
  }
}

}  // namespace
}  // namespace allot::schedule
