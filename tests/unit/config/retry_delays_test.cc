// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "config/settings.h"

namespace allot::config {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::uint32_t kMiddle = 200;  // dice without effect
constexpr std::uint32_t kHighest = 400;

TEST(RetryDelaysTest, DoublesUpToTheMost) {
  const RetryDelays delays{seconds(5), seconds(60)};
  EXPECT_EQ(delays.delay(1, kMiddle), seconds(5));
  EXPECT_EQ(delays.delay(2, kMiddle), seconds(10));
  EXPECT_EQ(delays.delay(3, kMiddle), seconds(20));
  EXPECT_EQ(delays.delay(4, kMiddle), seconds(40));
  EXPECT_EQ(delays.delay(5, kMiddle), seconds(60));
  EXPECT_EQ(delays.delay(255, kMiddle), seconds(60));
}

TEST(RetryDelaysTest, AttemptZeroWaitsAsTheFirst) {
  EXPECT_EQ((RetryDelays{seconds(5), seconds(60)}.delay(0, kMiddle)), seconds(5));
}

TEST(RetryDelaysTest, JitterIsWithinAFifth) {
  const RetryDelays delays{seconds(10), seconds(60)};
  EXPECT_EQ(delays.delay(1, 0), seconds(8));
  EXPECT_EQ(delays.delay(1, kHighest), seconds(12));
  for (std::uint32_t dice = 0; dice < 5000; ++dice) {
    EXPECT_GE(delays.delay(1, dice), seconds(8));
    EXPECT_LE(delays.delay(1, dice), seconds(12));
  }
  EXPECT_LE(delays.delay(1, UINT32_MAX), seconds(12));
}

TEST(RetryDelaysTest, AListIsKeptExactlyAndItsLastRepeats) {
  const RetryDelays delays{seconds(5), seconds(60), {seconds(10), seconds(0), seconds(90)}};
  for (const std::uint32_t dice : {0U, kHighest}) {
    EXPECT_EQ(delays.delay(0, dice), seconds(10));
    EXPECT_EQ(delays.delay(1, dice), seconds(10));
    EXPECT_EQ(delays.delay(2, dice), seconds(0));
    EXPECT_EQ(delays.delay(3, dice), seconds(90));
    EXPECT_EQ(delays.delay(255, dice), seconds(90));
  }
}

TEST(RetryDelaysTest, NoDelayStaysNoDelay) {
  EXPECT_EQ((RetryDelays{milliseconds(0), seconds(60)}.delay(9, kMiddle)), microseconds(0));
}

TEST(RetryDelaysTest, AFirstDelayAboveTheMostIsTheMost) {
  EXPECT_EQ((RetryDelays{seconds(60), seconds(5)}.delay(1, kMiddle)), seconds(5));
}

// The maximum in settings.def: doubling it 30 times does not fit into 64 bits.
TEST(RetryDelaysTest, TheLongestSettingsDoNotOverflow) {
  const RetryDelays delays{hours(720), hours(720)};
  EXPECT_EQ(delays.delay(100, kMiddle), hours(720));
  const RetryDelays steep{hours(719), hours(720)};
  EXPECT_EQ(steep.delay(255, kMiddle), hours(720));
}

}  // namespace
}  // namespace allot::config
