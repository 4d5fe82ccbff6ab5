// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "worker/lease/lease_keeper.h"
#include "worker/run/run.h"

namespace allot::worker {
namespace {

TEST(TaskLimits, WithoutAPromiseOnlyTheTimeLimitCounts) {
  const TaskLimits limits{50, 100, 0};
  EXPECT_EQ(limits.hard(10).at_ns, 100U);
  EXPECT_EQ(limits.hard(99).by, ipc::Limit::kTime);
}

TEST(TaskLimits, ProgressMovesTheDeadlineAndNeverBeyondTheTimeLimit) {
  const TaskLimits limits{50, 100, 30};
  EXPECT_EQ(limits.hard(10).at_ns, 40U);
  EXPECT_EQ(limits.hard(10).by, ipc::Limit::kProgress);
  EXPECT_EQ(limits.hard(40).at_ns, 70U);
  EXPECT_EQ(limits.hard(70).at_ns, 100U);
  EXPECT_EQ(limits.hard(70).by, ipc::Limit::kTime) << "the time limit comes no later";
  EXPECT_EQ(limits.hard(90).at_ns, 100U);
}

TEST(RoundTrips, TheSlowestOfLateIsMinded) {
  RoundTrips trips;
  EXPECT_EQ(trips.slowest(), 0U);
  trips.add(7);
  trips.add(900);
  trips.add(8);
  EXPECT_EQ(trips.slowest(), 900U);
  for (std::size_t i = 0; i < RoundTrips::kRemembered; ++i) {
    EXPECT_GE(trips.slowest(), 8U) << i;
    trips.add(5);
  }
  EXPECT_EQ(trips.slowest(), 5U) << "one slow answer is forgotten";
}

TEST(RoundTrips, TheMarginGrowsWithThemUpToHalfOfTheLease) {
  RoundTrips trips;
  EXPECT_EQ(lease_margin(3000, trips), 300U);
  trips.add(200);
  EXPECT_EQ(lease_margin(3000, trips), 500U);
  trips.add(2900);
  EXPECT_EQ(lease_margin(3000, trips), 1500U);
}

}  // namespace
}  // namespace allot::worker
