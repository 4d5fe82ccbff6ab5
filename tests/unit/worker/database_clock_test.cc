// SPDX-License-Identifier: Apache-2.0
// Rule: S15.
#include "worker/lease/database_clock.h"

#include <gtest/gtest.h>

namespace allot::worker {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

// A clock that shows a time of 1790000000 s at kStart.
class DatabaseClockTest : public testing::Test {
 protected:
  // Reads it at kStart + `since`, set forward by `by`; the answer comes after `trip`.
  void see(microseconds since, microseconds by = microseconds(0),
           microseconds trip = microseconds(0)) {
    const Nanos sent = at(since);
    clock_.saw(seconds(1'790'000'000) + since + trip / 2 + by, sent,
               sent + static_cast<Nanos>(trip.count()) * kMicro);
  }
  static Nanos at(microseconds since) {
    return 1'000 * kSecond + static_cast<Nanos>(since.count()) * kMicro;
  }

  DatabaseClock clock_;
};

TEST_F(DatabaseClockTest, IsTheDatabasesWhereTheClockIsNotSet) {
  EXPECT_EQ(clock_.ahead(at(seconds(0))).count(), 0);
  see(seconds(0));
  see(seconds(10), milliseconds(-900), milliseconds(200));
  see(minutes(10), microseconds(0), seconds(5));
  see(minutes(20), hours(1));
  EXPECT_EQ(clock_.ahead(at(minutes(20))).count(), 0) << "a jump ahead does no harm";
}

TEST_F(DatabaseClockTest, NeverGoesBackAndIsCaughtUpWith) {
  see(seconds(0));
  see(minutes(1), hours(-1));
  EXPECT_EQ(clock_.ahead(at(minutes(1))), hours(1));
  EXPECT_EQ(clock_.ahead(at(minutes(31))), minutes(45)) << "it continues at half speed";
  see(minutes(31), hours(-1));
  EXPECT_EQ(clock_.ahead(at(minutes(31))), minutes(45)) << "as it does when it is looked at";
  EXPECT_EQ(clock_.ahead(at(minutes(61))), minutes(30));
  EXPECT_EQ(clock_.ahead(at(hours(5))).count(), 0);
}

TEST_F(DatabaseClockTest, IsCaughtUpWithWhenTheStepIsUndone) {
  see(seconds(0));
  see(seconds(1), hours(-1));
  see(seconds(2), minutes(-10));
  EXPECT_LT(clock_.ahead(at(seconds(2))), minutes(10) + seconds(1));
  EXPECT_GT(clock_.ahead(at(seconds(2))), minutes(9));
  see(seconds(3));
  EXPECT_LT(clock_.ahead(at(seconds(3))), seconds(1));
}

// The answer may be as old as the call that asked for it.
TEST_F(DatabaseClockTest, ALateAnswerIsNotAStep) {
  see(seconds(0));
  see(seconds(1), hours(-1));
  see(seconds(61), hours(-1), seconds(20));
  see(seconds(121), hours(-1));
  EXPECT_EQ(clock_.ahead(at(seconds(121))), hours(1) - minutes(1));
}

TEST_F(DatabaseClockTest, ADayIsACorrection) {
  see(seconds(0));
  see(seconds(1), hours(-25));
  EXPECT_EQ(clock_.ahead(at(seconds(1))).count(), 0);
}

}  // namespace
}  // namespace allot::worker
