// SPDX-License-Identifier: Apache-2.0
// Rule: S77.
#include "worker/lease/polling.h"

#include <gtest/gtest.h>

namespace allot::worker {
namespace {

constexpr Nanos kLongAgo = 3600 * kSecond;

int looks_within(Nanos time, Nanos interval, Nanos since_unrung) {
  int looks = 0;
  for (Nanos at = 0; at < time; ++looks) {
    interval = next_interval(interval, since_unrung + at);
    at += interval;
  }
  return looks;
}

TEST(PollingTest, AnIdlePoolLooksAtTheFloor) {
  EXPECT_EQ(next_interval(kPollingFloor, kLongAgo), kPollingFloor);
  EXPECT_EQ(next_interval(UINT64_MAX, kLongAgo), kPollingFloor) << "the board is not trusted";
  EXPECT_EQ(looks_within(90 * kSecond, kPollingFloor, kLongAgo), 100);
}

TEST(PollingTest, AfterWorkTheIntervalGrows) {
  EXPECT_EQ(next_interval(kBusyInterval, kLongAgo), kFirstIdleInterval);
  EXPECT_EQ(next_interval(kFirstIdleInterval, kLongAgo), 2 * kFirstIdleInterval);
  EXPECT_LE(looks_within(2 * kSecond, kBusyInterval, kLongAgo), 7);
}

TEST(PollingTest, AnAnnouncedTaskIsLookedForSixTimesInASecond) {
  EXPECT_EQ(next_interval(kAnnouncedInterval, kLongAgo), 8 * kMilli);
  EXPECT_LE(looks_within(kSecond, kAnnouncedInterval, kLongAgo), 7);
}

// A submission without a ring is often not the only one.
TEST(PollingTest, AfterATaskThatNothingRangForThePoolLooksQuicklyForTwoSeconds) {
  EXPECT_EQ(next_interval(kBusyInterval, 0), kQuickInterval);
  EXPECT_EQ(next_interval(kPollingFloor, kQuickFor), kQuickInterval);
  EXPECT_EQ(looks_within(kQuickFor, kQuickInterval, 0), 100);
}

TEST(PollingTest, ThenItLooksSlowerAndSlowerUpToTheFloor) {
  Nanos last = 0;
  for (Nanos since = kQuickFor; since < 12 * kSecond; since += 100 * kMilli) {
    EXPECT_GE(longest_interval(since), last);
    last = longest_interval(since);
  }
  EXPECT_EQ(last, kPollingFloor);
  EXPECT_LE(looks_within(20 * kSecond, kQuickInterval, kQuickFor), 65);
}

// Out of 200 sleeping workers, one wakes in each of the first intervals, and few in each second.
TEST(PollingTest, SleepersWakeOneAfterTheOther) {
  double wakes_per_second = 0;
  Nanos first = kLongAgo;
  for (std::uint32_t slot = 0; slot < 200; ++slot) {
    const Nanos sleep = deep_sleep(slot, 199);
    first = std::min(first, sleep);
    EXPECT_LE(sleep, 10 * kSecond);
    wakes_per_second += static_cast<double>(kSecond) / static_cast<double>(sleep);
  }
  EXPECT_EQ(first, kPollingFloor);
  EXPECT_LT(wakes_per_second, 25);
}

TEST(PollingTest, AWorkerThatSleepsAloneWakesAtTheFloor) {
  EXPECT_EQ(deep_sleep(7, 0), kPollingFloor);
  EXPECT_EQ(deep_sleep(1, 1), 2 * kPollingFloor);
}

}  // namespace
}  // namespace allot::worker
