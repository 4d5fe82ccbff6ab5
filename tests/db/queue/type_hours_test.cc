// SPDX-License-Identifier: Apache-2.0
// Hours of a type: summed over hosts, kept for eight days, and shown with percentiles.
#include "queue/minutes/type_hours.h"

#include "db/queue/fixture.h"
#include "queue/minutes/minute_store.h"

namespace allot::queue {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class TypeHoursTest : public QueueTest {
 protected:
  // If an hour ended between two statements, a test would find two.
  TypeHoursTest() {
    const std::string now = "SET timestamp = " + value("SELECT UNIX_TIMESTAMP(UTC_TIMESTAMP(6))");
    observer_.execute(now);
    worker_.db.execute(now);
  }
  static MinuteStore host(std::uint64_t origin) {
    return MinuteStore({{4711, origin, "host", "test", 12}, "0.1.0", "run"});
  }
  // `done` attempts of up to 10 ms that waited for up to 5 s, and one that died at once.
  static MinuteTotals counted(std::uint64_t done, const std::string& type = "t") {
    MinuteTotals totals;
    MinuteCounts& counts = totals[{"mail", type}].counts;
    counts[MinuteColumn::kDone] = done;
    counts[MinuteColumn::kDead] = 1;
    counts.ran(3) = done;
    counts.ran(0) = 1;
    counts.waited(11) = done;
    totals[{"mail", type, "0123456789ab"}].counts[MinuteColumn::kDead] = 1;
    return totals;
  }
  // Moves all written rows some hours into the past.
  void age(unsigned hours) {
    observer_.execute("UPDATE type_hour SET hour_at = hour_at - INTERVAL " + std::to_string(hours) +
                      " HOUR ORDER BY hour_at");
  }
  Types listed(const TypesWanted& wanted = {}) { return list_types(observer_, wanted); }
};

TEST_F(TypeHoursTest, HostsAndMinutesAddUp) {
  MinuteStore first = host(1);
  MinuteStore second = host(2);
  first.write(worker_.db, counted(10), seconds(30));
  second.write(worker_.db, counted(100), seconds(30));
  first.write(worker_.db, counted(17), seconds(30));
  first.write(worker_.db, counted(17), seconds(30));
  EXPECT_EQ(number("SELECT COUNT(*) FROM type_hour"), 1U) << "errors have no row";
  const Types types = listed();
  ASSERT_EQ(types.list.size(), 1U);
  EXPECT_EQ(types.list[0].type, "t");
  EXPECT_EQ(types.list[0].all.done, 117U);
  EXPECT_EQ(types.list[0].all.dead, 2U);
  EXPECT_EQ(types.list[0].all.ran.count(), 119U);
  EXPECT_EQ(types.list[0].all.waited.count(), 117U);
  ASSERT_EQ(types.list[0].steps.size(), 1U);
  EXPECT_EQ(types.list[0].steps[0].counts.done, 117U);
}

TEST_F(TypeHoursTest, AreShownInStepsTheBusiestFirst) {
  MinuteStore store = host(1);
  store.write(worker_.db, counted(10), seconds(30));
  age(30);
  store.write(worker_.db, counted(15), seconds(30));
  age(1);
  store.write(worker_.db, counted(16), seconds(30));
  MinuteTotals totals = counted(50, "u");
  totals.merge(counted(16));
  store.write(worker_.db, totals, seconds(30));
  const Types day = listed();
  ASSERT_EQ(day.list.size(), 2U);
  EXPECT_EQ(day.list[0].type, "u");
  EXPECT_EQ(day.list[1].all.done, 6U) << "of the last 24 hours";
  ASSERT_EQ(day.list[1].steps.size(), 2U);
  EXPECT_EQ(day.list[1].steps[0].counts.done, 5U) << "the oldest first";
  EXPECT_LT(day.list[1].steps[0].at, day.list[1].steps[1].at);
  EXPECT_EQ(listed({.hours = 1}).list[1].all.done, 1U);
  const Types all = listed({.type = "t", .hours = 192, .step = 192});
  ASSERT_EQ(all.list.size(), 1U);
  EXPECT_EQ(all.list[0].all.done, 16U);
  EXPECT_LE(all.list[0].steps.size(), 2U);
  EXPECT_TRUE(listed({.queue = "other"}).list.empty());
}

TEST_F(TypeHoursTest, HoursOlderThanEightDaysAreRemoved) {
  host(1).write(worker_.db, counted(10), seconds(30));
  age(191);
  host(2).write(worker_.db, counted(1), seconds(30));
  purge_minutes(observer_);
  EXPECT_EQ(number("SELECT COUNT(*) FROM type_hour"), 2U);
  age(2);
  purge_minutes(observer_);
  EXPECT_EQ(number("SELECT COUNT(*) FROM type_hour"), 1U);
}

TEST(HistogramTest, APercentileIsWithinItsBucket) {
  Histogram histogram;
  EXPECT_EQ(histogram.percentile(0.5), std::nullopt);
  histogram.buckets[3] = 98;  // 5 to 10 ms
  histogram.buckets[9] = 2;   // 500 ms to 1 s
  const auto half = histogram.percentile(0.5);
  EXPECT_GT(half, milliseconds(5));
  EXPECT_LE(half, milliseconds(10));
  const auto most = histogram.percentile(0.99);
  EXPECT_GT(most, milliseconds(500));
  EXPECT_LE(most, seconds(1));
  histogram.buckets[19] = 1'000;
  EXPECT_EQ(histogram.percentile(0.99), std::chrono::hours(4))
      << "the last bucket has no upper bound";
}

}  // namespace
}  // namespace allot::queue
