// SPDX-License-Identifier: Apache-2.0
// Result of compare.py: 20,000 expressions compared with python3-croniter, and the changes of three
// zones until 2045 compared with Python's zoneinfo.
#include <gtest/gtest.h>

#include <chrono>

#include "support/process.h"

namespace allot::schedule {
namespace {

constexpr std::chrono::seconds kPatience(280);
constexpr int kNotInstalled = 77;

TEST(Compare, ChangesOfThreeZonesAreAsInZoneinfo) {
  const auto done = support::run_program(
      {"/usr/bin/python3", ALLOT_COMPARE, ALLOT_SCHEDULE_ANSWERS, "zones"}, {}, kPatience);
  EXPECT_EQ(done.status.code, 0) << done.out << done.err;
}

TEST(Compare, RandomExpressionsAreAsInCroniter) {
  const auto done = support::run_program(
      {"/usr/bin/python3", ALLOT_COMPARE, ALLOT_SCHEDULE_ANSWERS, "croniter"}, {}, kPatience);
  if (done.status.code == kNotInstalled) GTEST_SKIP() << "python3-croniter is not installed here.";
  EXPECT_EQ(done.status.code, 0) << done.out << done.err;
}

}  // namespace
}  // namespace allot::schedule
