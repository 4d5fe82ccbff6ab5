// SPDX-License-Identifier: Apache-2.0
#include "fault/schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace allot::fault {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;

TEST(Schedule, ASeedGivesTheSameScheduleAgain) {
  const auto once = make_schedule(7, minutes(1), milliseconds(100));
  EXPECT_EQ(once, make_schedule(7, minutes(1), milliseconds(100)));
  EXPECT_NE(once, make_schedule(8, minutes(1), milliseconds(100)));
}

TEST(Schedule, EveryKindComesAndInOrder) {
  const auto events = make_schedule(1, minutes(30), milliseconds(200));
  std::set<std::string> names;
  for (const Event& event : events) names.insert(name_of(event));
  EXPECT_EQ(names.size(), 12U + 6U + 6U);
  EXPECT_TRUE(std::is_sorted(events.begin(), events.end(),
                             [](const Event& a, const Event& b) { return a.at < b.at; }));
  EXPECT_LT(events.back().at, minutes(30));
  EXPECT_GT(events.size(), 8'000U);
}

TEST(Schedule, AWeightOfZeroIsNever) {
  for (const Event& event :
       make_schedule(1, minutes(10), milliseconds(100), only(Kind::kHoldTask))) {
    EXPECT_EQ(event.kind, Kind::kHoldTask);
  }
}

}  // namespace
}  // namespace allot::fault
