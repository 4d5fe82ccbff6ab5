// SPDX-License-Identifier: Apache-2.0
#include "supervisor/backoff.h"

#include <gtest/gtest.h>

namespace allot::supervisor {
namespace {

TEST(Backoff, DoublesUpToItsLimitAndStartsAgain) {
  Backoff backoff(100, 350);
  EXPECT_TRUE(backoff.due(0));
  backoff.failed(1000);
  EXPECT_EQ(backoff.delay(), 100U);
  EXPECT_FALSE(backoff.due(1099));
  EXPECT_TRUE(backoff.due(1100));
  backoff.failed(2000);
  EXPECT_EQ(backoff.not_before(), 2200U);
  backoff.failed(3000);
  EXPECT_EQ(backoff.delay(), 350U);
  backoff.reset();
  EXPECT_TRUE(backoff.due(3001));
  backoff.failed(4000);
  EXPECT_EQ(backoff.delay(), 100U);
}

}  // namespace
}  // namespace allot::supervisor
