// SPDX-License-Identifier: Apache-2.0
#include "queue/model/rate.h"

#include <gtest/gtest.h>

namespace allot::queue {
namespace {

TEST(RateTest, ANumberIsReadExactly) {
  EXPECT_EQ(parse_per_second("0.5"), 500'000U);
  EXPECT_EQ(parse_per_second("500"), 500'000'000U);
  EXPECT_EQ(parse_per_second("0.000001"), 1U);
  EXPECT_EQ(parse_per_second("12.3456"), 12'345'600U);
  for (const char* text : {"", ".", ".5", "5.", "-1", "+1", "nan", "inf", "1e3", "1,5", " 1", "1 ",
                           "0x10", "0.0000001", "1234567890", "1.2.3"}) {
    EXPECT_FALSE(parse_per_second(text)) << text;
  }
}

TEST(RateTest, ItIsShownAsItWasGiven) {
  for (const char* text : {"0.5", "500", "0.000001", "12.3456", "100000"}) {
    EXPECT_EQ(per_second_text(*parse_per_second(text)), text);
  }
  EXPECT_EQ(text_of({500'000, 3}), "0.5/s, burst 3");
}

// Starts permitted at once by full buckets, and per second.
struct Sums {
  std::int64_t at_once = 0;
  double in_second = 0;
};
Sums sums_of(const std::vector<Bucket>& buckets) {
  Sums sums;
  for (const Bucket& bucket : buckets) {
    sums.at_once += bucket.max_lag_us / bucket.interval_us + 1;
    sums.in_second += 1e6 / static_cast<double>(bucket.interval_us);
  }
  return sums;
}

TEST(RateTest, BucketsHoldTheBurstAndAtLeast200MsOfTheRate) {
  struct Case {
    const char* per_second;
    std::uint32_t burst;
    std::size_t buckets;
    std::int64_t at_once;
    std::uint32_t most;
  };
  for (const Case& one :
       {Case{"0.5", 1, 1, 1, 1}, Case{"0.5", 4, 1, 4, 1}, Case{"5", 1, 1, 1, 1},
        Case{"50", 1, 1, 10, 5}, Case{"50", 30, 1, 30, 5}, Case{"200", 1, 1, 40, 20},
        Case{"201", 1, 2, 40, 20}, Case{"500", 1, 3, 99, 50}, Case{"500", 1500, 3, 1500, 50},
        Case{"100000", 1, 16, 20'000, 10'000}}) {
    const auto buckets = buckets_of({*parse_per_second(one.per_second), one.burst});
    EXPECT_EQ(buckets.size(), one.buckets) << one.per_second;
    EXPECT_EQ(sums_of(buckets).at_once, one.at_once) << one.per_second << " " << one.burst;
    EXPECT_EQ(buckets.front().max_grant, one.most) << one.per_second;
  }
}

// One late start does not delay the others.
TEST(RateTest, ABucketThatSavesNothingUpHoldsAQuarterOfAnInterval) {
  EXPECT_EQ(buckets_of({5'000'000, 1}).front().max_lag_us, 50'000);
  EXPECT_EQ(buckets_of({5'100'000, 1}).front().max_lag_us, 49'019);
  EXPECT_EQ(buckets_of({6'000'000, 1}).front().max_lag_us, 41'666);
  EXPECT_EQ(buckets_of({7'000'000, 1}).front().max_lag_us, 57'142);
  EXPECT_EQ(buckets_of({10, 1}).front().max_lag_us, 200'000);
}

// Intervals are whole microseconds, rounded up.
TEST(RateTest, BucketsNeverLetMoreStartThanTheRate) {
  for (const char* text :
       {"0.00001", "0.3", "0.5", "3", "7.7", "199.999999", "333", "777.7", "12345.6", "99999"}) {
    const auto per_million = *parse_per_second(text);
    const double in_second = sums_of(buckets_of({per_million, 1})).in_second;
    const double wanted = static_cast<double>(per_million) / 1e6;
    EXPECT_LE(in_second, wanted * (1 + 1e-9)) << text;
    EXPECT_GE(in_second, wanted * 0.99) << text;
  }
}

TEST(RateTest, TheLargestNumbersDoNotOverflow) {
  const auto buckets = buckets_of({kMinRate, kMaxBurst});
  EXPECT_EQ(buckets.front().interval_us, 100'000'000'000);
  EXPECT_EQ(sums_of(buckets).at_once, kMaxBurst);
}

}  // namespace
}  // namespace allot::queue
