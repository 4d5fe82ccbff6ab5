// SPDX-License-Identifier: Apache-2.0
#include "supervisor/backoff.h"

#include <gtest/gtest.h>

namespace allot::supervisor {
namespace {

TEST(Backoff, DoublesUpToItsMostAndBeginsAnew) {
  Backoff pause(100, 350);
  EXPECT_TRUE(pause.due(0));
  pause.failed(1000);
  EXPECT_EQ(pause.delay(), 100U);
  EXPECT_FALSE(pause.due(1099));
  EXPECT_TRUE(pause.due(1100));
  pause.failed(2000);
  EXPECT_EQ(pause.not_before(), 2200U);
  pause.failed(3000);
  EXPECT_EQ(pause.delay(), 350U);
  pause.reset();
  EXPECT_TRUE(pause.due(3001));
  pause.failed(4000);
  EXPECT_EQ(pause.delay(), 100U);
}

}  // namespace
}  // namespace allot::supervisor
